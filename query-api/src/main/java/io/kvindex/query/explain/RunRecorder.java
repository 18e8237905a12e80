// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.explain;

import io.kvindex.model.Media;
import io.kvindex.query.explain.RunRecorder.InstanceRuns.End;
import io.kvindex.query.match.InstanceSet;
import io.kvindex.query.match.PrefixCounter;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.RunVisitor;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Writes down which media of which instance hold each run of blocks, by the conductor's rule: any
 * medium of the instance, or a pool that serves it, carries its prefix on. For one walk.
 */
final class RunRecorder implements PrefixCounter, RunVisitor {

  /** What a slot is to the instances. */
  private record Holding(List<InstanceRuns> by, String medium) {}

  private final Media media;
  private final int blocks;
  private final List<InstanceRuns> instances = new ArrayList<>();
  private final List<Holding> slots = new ArrayList<>();
  private InstanceSet listed = InstanceSet.EMPTY;
  private BitSet held = new BitSet();

  /**
   * @param blocks complete blocks of the prompt
   */
  RunRecorder(Media media, int blocks) {
    this.media = media;
    this.blocks = blocks;
  }

  @Override
  public RunVisitor over(InstanceSet set) {
    listed = set;
    for (int i = 0; i < set.size(); i++) {
      instances.add(new InstanceRuns());
    }
    return this;
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
      InstanceSet.Instance one = listed.get(i);
      boolean its =
          owner.pool()
              ? one.servedBy(owner.instanceId())
              : one.instanceId().equals(owner.instanceId());
      if (its) {
        by.add(instances.get(i));
        instances.get(i).stores();
      }
    }
    String medium = media.answerKey(owner.medium());
    return new Holding(by, owner.pool() ? medium + "@" + owner.instanceId() : medium);
  }

  @Override
  public boolean change(int position, long[] ownerBits) {
    BitSet now = BitSet.valueOf(ownerBits);
    now.clear(slots.size(), Math.max(slots.size(), now.length()));
    BitSet changed = (BitSet) held.clone();
    changed.xor(now);
    for (int slot = changed.nextSetBit(0); slot >= 0; slot = changed.nextSetBit(slot + 1)) {
      Holding holding = slots.get(slot);
      for (InstanceRuns one : holding.by()) {
        if (now.get(slot)) {
          one.gain(holding.medium());
        } else {
          one.lose(holding.medium());
        }
      }
    }
    held = now;
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

  /** How one instance held a prompt, from its first block on; filled by a {@link RunRecorder}. */
  static final class InstanceRuns {
    /** Runs kept of an instance: what flickers from block to block would fill the answer. */
    static final int MAX_RUNS = 256;

    /**
     * Blocks held the same way.
     *
     * @param from first block
     * @param to the block after the last one
     * @param media answer keys, {@code @pool} behind those of a pool
     */
    record Run(int from, int to, Set<String> media) {}

    /** Why a prefix ended. */
    enum End {
      /** All complete blocks of the prompt are held. */
      END_OF_PROMPT,
      /** Other owners of the table hold the next block, this instance and its pools do not. */
      HELD_BY_OTHERS,
      /** No live owner holds the next block. */
      HELD_BY_NOBODY,
      /** Neither the instance nor a pool that serves it holds any block of the table. */
      NOTHING_STORED
    }

    private final List<Run> runs = new ArrayList<>();
    private final TreeMap<String, Integer> holders = new TreeMap<>();
    private Set<String> media = Set.of();
    private int since;
    private int omitted;
    private int ended = -1;
    private @Nullable End end;
    private boolean stores;

    /** It, or a pool of its, is an owner in the table. */
    void stores() {
      stores = true;
    }

    void gain(String medium) {
      holders.merge(medium, 1, Integer::sum);
    }

    void lose(String medium) {
      holders.computeIfPresent(medium, (name, count) -> count == 1 ? null : count - 1);
    }

    /** All changes at a block are told. */
    void settle(int position) {
      if (ended >= 0) {
        return;
      }
      if (holders.isEmpty()) {
        end(position, End.HELD_BY_OTHERS);
      } else if (!holders.keySet().equals(media)) {
        close(position);
        media = new TreeSet<>(holders.keySet());
        since = position;
      }
    }

    void end(int position, End why) {
      if (ended < 0) {
        close(position);
        ended = position;
        end = stores || why == End.END_OF_PROMPT ? why : End.NOTHING_STORED;
      }
    }

    private void close(int position) {
      if (media.isEmpty() || position == since) {
        return;
      }
      if (runs.size() < MAX_RUNS) {
        runs.add(new Run(since, position, media));
      } else {
        omitted++;
      }
    }

    boolean isGoingOn() {
      return ended < 0;
    }

    /** Blocks of its prefix, which is also the block it ended at. */
    int matched() {
      return Math.max(0, ended);
    }

    End end() {
      End why = end;
      return why == null ? End.NOTHING_STORED : why;
    }

    List<Run> runs() {
      return runs;
    }

    /** Runs beyond {@link #MAX_RUNS}. */
    int omitted() {
      return omitted;
    }
  }
}
