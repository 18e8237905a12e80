// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.explain;

import io.kvindex.model.Media;
import io.kvindex.query.explain.InstanceRuns.End;
import io.kvindex.query.match.InstanceSet;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.RunVisitor;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * Writes down which media of which instance hold each run of blocks, by the conductor's rule: any
 * medium of the instance, or a pool that serves it, carries its prefix on. For one walk.
 */
final class RunRecorder implements RunVisitor {

  /** What a slot is to the instances. */
  private record Holding(List<InstanceRuns> by, String medium) {}

  private final Media media;
  private final int blocks;
  private final List<InstanceRuns> instances = new ArrayList<>();
  private final List<Holding> slots = new ArrayList<>();
  private final InstanceSet listed;

  /**
   * @param blocks complete blocks of the prompt
   */
  RunRecorder(Media media, InstanceSet listed, int blocks) {
    this.media = media;
    this.listed = listed;
    this.blocks = blocks;
    for (int i = 0; i < listed.size(); i++) {
      instances.add(new InstanceRuns());
    }
  }

  @Override
  public void begin(OwnerView owners) {
    for (int slot = 0; slot < owners.slots(); slot++) {
      Owner owner = owners.owner(slot);
      slots.add(owner == null ? new Holding(List.of(), "") : holding(owner));
    }
  }

  private Holding holding(Owner owner) {
    List<InstanceRuns> by = new ArrayList<>();
    for (int i = 0; i < listed.size(); i++) {
      if (listed.get(i).gainsFrom(owner.instanceId(), owner.pool())) {
        by.add(instances.get(i));
        instances.get(i).stores();
      }
    }
    String medium = media.answerKey(owner.medium());
    return new Holding(by, owner.pool() ? medium + "@" + owner.instanceId() : medium);
  }

  @Override
  public boolean change(int position, long[] ownerBits) {
    BitSet held = BitSet.valueOf(ownerBits); // what follows the last slot means nothing
    held.stream()
        .takeWhile(slot -> slot < slots.size())
        .mapToObj(slots::get)
        .forEach(holding -> holding.by().forEach(one -> one.holds(holding.medium())));
    instances.forEach(one -> one.settle(position));
    return instances.stream().anyMatch(InstanceRuns::isGoingOn);
  }

  @Override
  public void end(int position) {
    End why = position >= blocks ? End.END_OF_PROMPT : End.HELD_BY_NOBODY;
    instances.forEach(one -> one.end(position, why));
  }

  /** What became of an instance of the set. */
  InstanceRuns of(int instance) {
    return instances.get(instance);
  }
}
