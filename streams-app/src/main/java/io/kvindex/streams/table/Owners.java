// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.PublisherId;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.row.OwnerRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/** The owners of a partition, live and dead: rows {@code O}. */
public final class Owners {

  private final Tables tables;
  private final Publishers publishers;
  private final Map<Integer, OwnerState> byId = new HashMap<>();
  private final Map<Integer, List<OwnerState>> liveByPublisher = new HashMap<>();
  private final Map<Integer, OwnerState> dead = new LinkedHashMap<>();

  /** Live owners whose publisher's row has not come yet. */
  private final Map<Integer, OwnerRow> unborn = new LinkedHashMap<>();

  /** Live and dead, by the end of their time, only those that have one. */
  private final PriorityQueue<OwnerState> expiring =
      new PriorityQueue<>(Comparator.comparingLong(owner -> owner.row().expiresAtMs()));

  private int highest;

  Owners(Tables tables, Publishers publishers) {
    this.tables = tables;
    this.publishers = publishers;
  }

  void fold(int id, @Nullable OwnerRow row) {
    OwnerState known = byId.get(id);
    highest = Math.max(highest, id);
    if (row == null || row.dead()) {
      unborn.remove(id);
    }
    if (row == null) {
      forget(known);
    } else if (known == null && !row.dead() && !publishers.knows(row.publisherRef())) {
      unborn.put(id, row);
    } else if (known == null) {
      byId.put(id, row.dead() ? buried(id, row) : born(id, row));
    } else if (row.dead() && !known.row().dead()) {
      bury(known, row);
    } else if (!row.dead()) {
      known.setRow(row);
    }
  }

  private OwnerState born(int id, OwnerRow row) {
    PrefixIndex index = tables.index(row.tableRef());
    PublisherId publisher = publishers.get(row.publisherRef()).publisher();
    int slot =
        index.addOwner(
            new Owner(
                publisher.tenantId(),
                publisher.instanceId(),
                publisher.dpRank(),
                row.rank(),
                row.medium(),
                row.pool(),
                row.backendId(),
                row.incarnation()));
    OwnerState owner = new OwnerState(id, row, index, slot);
    enlist(liveByPublisher.computeIfAbsent(row.publisherRef(), p -> new ArrayList<>()), owner);
    if (row.expiresAtMs() != OwnerRow.NEVER) {
      expiring.add(owner);
    }
    return owner;
  }

  /** In the order of their numbers, whichever came first: the same as after loading. */
  private static void enlist(List<OwnerState> live, OwnerState owner) {
    int at = live.size();
    while (at > 0 && live.get(at - 1).id() > owner.id()) {
      at--;
    }
    live.add(at, owner);
  }

  /**
   * Brings to life the owners whose publisher has become known. A compacted changelog holds a row
   * where it was written last, so an owner's row may come before its publisher's.
   *
   * @return those owners; none of their blocks is folded yet
   */
  List<OwnerState> settle() {
    List<OwnerState> settled = new ArrayList<>();
    Iterator<Map.Entry<Integer, OwnerRow>> waiting = unborn.entrySet().iterator();
    while (waiting.hasNext()) {
      Map.Entry<Integer, OwnerRow> next = waiting.next();
      if (publishers.knows(next.getValue().publisherRef())) {
        OwnerState owner = born(next.getKey(), next.getValue());
        byId.put(owner.id(), owner);
        settled.add(owner);
        waiting.remove();
      }
    }
    return settled;
  }

  private OwnerState buried(int id, OwnerRow row) {
    OwnerState owner = OwnerState.dead(id, row, tables.index(row.tableRef()));
    dead.put(id, owner);
    return owner;
  }

  private void bury(OwnerState owner, OwnerRow row) {
    owner.index().retireOwner(owner.slot());
    liveByPublisher.getOrDefault(row.publisherRef(), new ArrayList<>()).remove(owner);
    owner.setRow(row);
    dead.put(owner.id(), owner);
    dropDeadHeads();
  }

  /** A standby never asks who is due: what died long ago must not wait there for ever. */
  private void dropDeadHeads() {
    for (OwnerState head = expiring.peek();
        head != null && head.row().dead();
        head = expiring.peek()) {
      expiring.remove();
    }
  }

  /** How many owners are kept because their time will end. */
  int expiring() {
    return expiring.size();
  }

  private void forget(@Nullable OwnerState owner) {
    if (owner == null) {
      return;
    }
    if (!owner.row().dead()) {
      bury(owner, owner.row().died());
    }
    byId.remove(owner.id());
    dead.remove(owner.id());
    if (owner.indexed()) {
      owner.index().freeOwner(owner.slot());
    }
  }

  /** Live owners whose time is over, each named once: the caller lets them die. */
  public List<OwnerState> due(long nowMs) {
    List<OwnerState> due = List.of();
    for (OwnerState next = expiring.peek();
        next != null && (next.row().dead() || next.row().expiresAtMs() <= nowMs);
        next = expiring.peek()) {
      if (!next.row().dead()) {
        due = due.isEmpty() ? new ArrayList<>() : due;
        due.add(next);
      }
      expiring.remove();
    }
    return due;
  }

  /** The owner with that number, null = its row is gone. */
  public @Nullable OwnerState byId(int id) {
    return byId.get(id);
  }

  /** Live owners of a publisher, by number. */
  public List<OwnerState> live(int publisherRef) {
    return liveByPublisher.getOrDefault(publisherRef, List.of());
  }

  /** Live owners of a table, by number. */
  public List<OwnerState> ofTable(int tableRef) {
    return byId.values().stream()
        .filter(owner -> !owner.row().dead() && owner.row().tableRef() == tableRef)
        .sorted(Comparator.comparingInt(OwnerState::id))
        .toList();
  }

  /** Dead owners whose blocks are not all deleted, oldest death first. */
  public Collection<OwnerState> dead() {
    return dead.values();
  }

  /** A number no owner has. */
  public int next() {
    return highest + 1;
  }
}
