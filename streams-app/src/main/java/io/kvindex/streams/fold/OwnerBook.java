// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.model.Media.Tier;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.streams.row.LogRow;
import io.kvindex.streams.row.OwnerRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Who holds blocks: opens owners, finds those an event speaks of, and lets them die. For the thread
 * that owns the task.
 *
 * <p>Where blocks count for some time only, what is announced in one eighth of that time has an
 * owner of its own, so that it goes as a whole: no block is looked at. A block that is announced
 * again is held by the newer owner too and stays with it.
 */
final class OwnerBook {

  private static final int SLICES = 8;

  private final PartitionTable table;
  private final Media media = Media.standard();

  OwnerBook(PartitionTable table) {
    this.table = table;
  }

  /**
   * The owner of blocks stored now.
   *
   * @param nowMs the log's time of the record
   */
  OwnerState open(EventRecord record, int tableRef, int publisherRef, Place place, long nowMs) {
    long expiresAtMs = expiresAtMs(record.traits(), place, nowMs);
    for (OwnerState owner : table.owners().live(publisherRef)) {
      OwnerRow row = owner.row();
      if (row.tableRef() == tableRef
          && row.rank() == place.rank()
          && row.expiresAtMs() == expiresAtMs
          && Objects.equals(row.backendId(), place.backendId())
          && media.isSame(row.medium(), place.medium())) {
        return owner;
      }
    }
    int id = table.owners().next();
    OwnerRow row =
        new OwnerRow(
            tableRef,
            publisherRef,
            place.rank(),
            place.medium(),
            place.backendId(),
            record.type().isPool(),
            table.publishers().get(publisherRef).life(),
            false,
            expiresAtMs,
            false);
    table.put(LogRow.key(LogRow.OWNERS), LogRow.owners(id));
    table.put(RowKeys.ofId(RowKind.OWNER, id), row.encode());
    return Objects.requireNonNull(table.owners().byId(id));
  }

  /** End of the time the blocks count for, never more than what was asked for from now on. */
  private long expiresAtMs(SourceTraits traits, Place place, long nowMs) {
    long lifetimeMs = traits.expirySeconds() * 1_000L;
    if (lifetimeMs == 0 || media.tier(place.medium()) == Tier.DEVICE) {
      return OwnerRow.NEVER;
    }
    long slice = lifetimeMs / SLICES;
    return Math.floorDiv(nowMs, slice) * slice + lifetimeMs;
  }

  /** Owners a removal speaks of: one medium, else the device tier, else for a pool all of it. */
  List<OwnerState> addressed(int publisherRef, Place place) {
    List<OwnerState> found = new ArrayList<>();
    for (OwnerState owner : table.owners().live(publisherRef)) {
      OwnerRow row = owner.row();
      boolean medium =
          place.medium() != null
              ? isSame(place.medium(), row)
              : row.pool() || media.tier(row.medium()) == Tier.DEVICE;
      boolean backend = place.backendId() == null || place.backendId().equals(row.backendId());
      if (medium && backend && (row.pool() || row.rank() == place.rank())) {
        found.add(owner);
      }
    }
    return found;
  }

  /** A dump names tiers: which medium of it the publisher means is not known. */
  private boolean isSame(String medium, OwnerRow row) {
    return PeerImport.isImported(row.backendId())
        ? media.tier(medium) == media.tier(row.medium())
        : media.isSame(medium, row.medium());
  }

  /**
   * How repeated stores of one owner's blocks count. What outlives the process is announced again
   * by a new one, copies the former one stored included: no number of removals could be right.
   */
  CopyPolicy copies(SourceTraits traits, OwnerState owner) {
    return outlives(traits, owner) ? CopyPolicy.SET : traits.copies();
  }

  private boolean outlives(SourceTraits traits, OwnerState owner) {
    return !traits.persistentMedia().isEmpty()
        && !PeerImport.isImported(owner.row().backendId())
        && traits.persistentMedia().contains(media.answerKey(owner.row().medium()));
  }

  /** Whether blocks a former life announced still count, because their medium outlived it. */
  boolean keepsFormer(int publisherRef, SourceTraits traits) {
    Incarnation life = table.publishers().get(publisherRef).life();
    for (OwnerState owner : table.owners().live(publisherRef)) {
      if (Sequencer.compareLives(owner.row().incarnation(), life) < 0 && outlives(traits, owner)) {
        return true;
      }
    }
    return false;
  }

  /**
   * A new life began: what older ones announced is dead, except on media that outlive the process.
   *
   * @return whether an owner was kept
   */
  boolean endLife(int publisherRef, SourceTraits traits) {
    boolean kept = false;
    for (OwnerState owner : List.copyOf(table.owners().live(publisherRef))) {
      if (outlives(traits, owner)) {
        kept = true;
      } else {
        kill(owner);
      }
    }
    return kept;
  }

  /** Whether blocks of a peer's dump count for a publisher. */
  boolean hasImported(int publisherRef) {
    return table.owners().live(publisherRef).stream()
        .anyMatch(owner -> PeerImport.isImported(owner.row().backendId()));
  }

  /** Lets what came from peers die. */
  void killImported(int publisherRef) {
    for (OwnerState owner : List.copyOf(table.owners().live(publisherRef))) {
      if (PeerImport.isImported(owner.row().backendId())) {
        kill(owner);
      }
    }
  }

  /** Lets die what was announced before a generation; blocks imported for it were not. */
  void killBefore(int publisherRef, long generation) {
    for (OwnerState owner : List.copyOf(table.owners().live(publisherRef))) {
      OwnerRow row = owner.row();
      if (!PeerImport.isImported(row.backendId()) || row.incarnation().generation() < generation) {
        kill(owner);
      }
    }
  }

  /** Lets all owners of a publisher die. */
  void killAll(int publisherRef) {
    List.copyOf(table.owners().live(publisherRef)).forEach(this::kill);
  }

  /** Lets those die whose time is over; whether there were any. */
  boolean expire(long nowMs) {
    List<OwnerState> due = table.owners().due(nowMs);
    due.forEach(this::kill);
    return !due.isEmpty();
  }

  /** From here on the owner is in no answer; its blocks go bit by bit. */
  void kill(OwnerState owner) {
    table.orphans().of(owner.id()).forEach(table::removeOrphan);
    table.put(RowKeys.ofId(RowKind.OWNER, owner.id()), owner.row().died().encode());
  }
}
