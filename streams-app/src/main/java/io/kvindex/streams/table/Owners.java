// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.PublisherId;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Holder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** The owners of a partition, live and dead: rows {@code O}. */
public final class Owners {

  private final Blocks blocks;
  private final Numbered<PublisherId, PublisherRow> publishers;
  private final Map<Integer, OwnerState> byId = new HashMap<>();
  private final Map<Integer, List<OwnerState>> liveByPublisher = new HashMap<>();

  /** The live ones that have an end, by it. */
  private final PriorityQueue<OwnerState> expiring =
      new PriorityQueue<>(Comparator.comparingLong(owner -> owner.row().expiresAtMs()));

  private int highest;

  Owners(Blocks blocks, Numbered<PublisherId, PublisherRow> publishers) {
    this.blocks = blocks;
    this.publishers = publishers;
  }

  void fold(int id, @Nullable OwnerRow row) {
    if (row == null) {
      byId.remove(id);
      return;
    }
    OwnerState known = byId.get(id);
    if (known == null) {
      known = born(id, row);
      byId.put(id, known);
    }
    if (row.dead() && !known.holder().isDead()) {
      bury(known, row);
    } else {
      known.setRow(row);
    }
  }

  private OwnerState born(int id, OwnerRow row) {
    Holder holder = blocks.addHolder(row.tableRef(), id, row.owner());
    useGroups(holder, 0, publishers.get(row.publisherRef()).groups());
    OwnerState owner = new OwnerState(holder, row);
    enlist(liveByPublisher.computeIfAbsent(row.publisherRef(), p -> new ArrayList<>()), owner);
    if (row.expiresAtMs() != OwnerRow.NEVER) {
      expiring.add(owner);
    }
    return owner;
  }

  /**
   * A publisher uses attention groups it did not use before.
   *
   * @param before bit per group so far
   * @param now bit per group
   */
  void regroup(int publisherRef, long before, long now) {
    live(publisherRef).forEach(owner -> useGroups(owner.holder(), before, now));
  }

  private void useGroups(Holder holder, long before, long now) {
    if (Long.bitCount(now) > 1) {
      int former = Long.numberOfTrailingZeros(before == 0 ? now : before);
      for (long left = now & ~before & ~(1L << former); left != 0; left &= left - 1) {
        blocks.addGroup(holder, former, Long.numberOfTrailingZeros(left));
      }
    }
  }

  /** In the order of their numbers, whichever came first: the same as after loading. */
  private static void enlist(List<OwnerState> live, OwnerState owner) {
    int at = live.size();
    while (at > 0 && live.get(at - 1).id() > owner.id()) {
      at--;
    }
    live.add(at, owner);
  }

  private void bury(OwnerState owner, OwnerRow row) {
    blocks.kill(owner.holder());
    liveByPublisher.getOrDefault(row.publisherRef(), new ArrayList<>()).remove(owner);
    owner.setRow(row);
    expiring.remove(owner);
  }

  /** Live owners whose time is over, each named once: the caller lets them die. */
  public List<OwnerState> due(long nowMs) {
    List<OwnerState> due = List.of();
    for (OwnerState next = expiring.peek();
        next != null && next.row().expiresAtMs() <= nowMs;
        next = expiring.peek()) {
      due = due.isEmpty() ? new ArrayList<>() : due;
      due.add(expiring.remove());
    }
    return due;
  }

  /** Live and dead, in no order. */
  Collection<OwnerState> all() {
    return byId.values();
  }

  /** The owner with that number, null = its row is gone. */
  public @Nullable OwnerState byId(int id) {
    return byId.get(id);
  }

  /** Live owners of a publisher, by number. */
  public List<OwnerState> live(int publisherRef) {
    return liveByPublisher.getOrDefault(publisherRef, List.of());
  }

  void foldHighest(int id) {
    highest = Math.max(highest, id);
  }

  /** A number no owner has or had. */
  public int next() {
    return highest + 1;
  }
}
