// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.model.Media.Tier;
import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.table.OwnerRow;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.PublisherRow;
import io.kvindex.streams.table.StreamRow;
import io.kvindex.streams.table.StreamState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * What begins and ends with the lives of publishers (docs/adr/0002-lives.md): who holds blocks, and
 * how long these count. For the thread that owns the task.
 *
 * <p>Where blocks count for some time only, what is announced in one eighth of that time has an
 * owner of its own, so that it goes as a whole: no block is looked at. A block that is announced
 * again is held by the newer owner too and stays with it.
 */
final class Lives {

  private static final int SLICES = 8;

  private final PartitionTable table;
  private final Media media = Media.standard();

  Lives(PartitionTable table) {
    this.table = table;
  }

  // ------------------------------------------------------------------- lives

  /** The newest life of the record's publisher, that of the record if it is not known yet. */
  Incarnation of(EventRecord next) {
    PublisherRow known = table.publishers().find(next.stream().publisher());
    return known == null ? next.incarnation() : known.life();
  }

  /**
   * Begins that of a record, if it is newer: whatever older ones announced is dead from here on,
   * except on media that outlive the process.
   */
  void begin(EventRecord first) {
    Incarnation life = first.incarnation();
    int ref = table.refOf(first.stream().publisher(), life);
    PublisherRow known = table.publishers().get(ref);
    if (Sequencer.compareLives(life, known.life()) > 0) {
      boolean kept = Protection.FENCING.isOff();
      boolean sameSource = life.generation() == known.life().generation();
      boolean firstLife = sameSource && known.life().life() == PeerImport.NO_LIFE;
      // Before its first life there is nothing of it but what peers said.
      if (!kept && !firstLife) {
        boolean any = sameSource && sameGroups(known, first.traits());
        kept = kill(ref, owner -> !any || !outlives(first.traits(), owner));
      }
      table.put(ref, kept ? known.outlived(life) : PublisherRow.first(known.publisher(), life));
      settleOthers(first.stream(), ref, kept);
    }
  }

  /**
   * Whether blocks of the former life can be judged by the groups of the new one. Those it learnt
   * from stores need not be the new one's, which would then never hold a whole block: what outlived
   * the process is rather forgotten.
   */
  private static boolean sameGroups(PublisherRow former, SourceTraits traits) {
    return Long.bitCount(former.groups()) <= 1 || former.groups() == allShards(traits.shards());
  }

  /** Groups of a block that is made of several objects: it counts from its last one on. */
  static long allShards(int shards) {
    return shards == 1 ? 0 : -1L >>> Long.SIZE - shards;
  }

  /**
   * A publisher's other streams, which may never be heard of again: what they lacked is of no
   * account once nothing of it counts. Where blocks outlive the life, what was held back may have
   * removed some of them.
   *
   * @param own the stream of the record at hand
   */
  private void settleOthers(StreamId own, int ref, boolean kept) {
    for (StreamState stream : table.streams().of(own.publisher())) {
      StreamRow row = stream.row();
      boolean counts = PeerImport.isImport(row.stream()) ? hasImported(ref) : kept;
      long gaps = row.at().gaps();
      long left = counts ? Math.max(gaps, stream.held().isEmpty() ? 0 : 1) : 0;
      if (left != gaps && !row.stream().equals(own)) {
        table.putLast(stream.ref(), row.withGaps(left));
      }
    }
  }

  /** Whether blocks announced by a former life of the record's publisher still count. */
  boolean keepsFormer(EventRecord next) {
    Integer ref = table.publishers().ref(next.stream().publisher());
    if (ref == null) {
      return false;
    }
    Incarnation life = table.publishers().get(ref).life();
    return table.owners().live(ref).stream()
        .map(owner -> owner.row().owner())
        .anyMatch(
            owner ->
                Sequencer.compareLives(owner.incarnation(), life) < 0
                    && outlives(next.traits(), owner));
  }

  private boolean outlives(SourceTraits traits, Owner owner) {
    return !traits.persistentMedia().isEmpty()
        && !PeerImport.isImported(owner.backendId())
        && traits.persistentMedia().contains(media.answerKey(owner.medium()));
  }

  /** A publisher is gone: all of it dies but what peers said of the generation that follows. */
  void retire(EventRecord last, int publisherRef) {
    long generation = last.incarnation().generation();
    kill(
        publisherRef,
        owner ->
            !PeerImport.isImported(owner.backendId())
                || owner.incarnation().generation() < generation);
    settleOthers(last.stream(), publisherRef, false);
  }

  // ------------------------------------------------------------------- what peers said

  /** Whether blocks of a peer's dump count for a publisher. */
  boolean hasImported(int publisherRef) {
    return table.owners().live(publisherRef).stream()
        .anyMatch(owner -> PeerImport.isImported(owner.row().owner().backendId()));
  }

  /** Forgets what peers said of a record's publisher, if it tells all of it itself. */
  void forgetImports(EventRecord next, int publisherRef) {
    if (beginsAtStart(next, publisherRef)) {
      kill(publisherRef, owner -> PeerImport.isImported(owner.backendId()));
      settleImports(next.stream().publisher(), publisherRef);
    }
  }

  /**
   * Whether a publisher tells all of its cache from its first batch on: what peers said of it is of
   * no account any more.
   */
  private boolean beginsAtStart(EventRecord next, int publisherRef) {
    return next.position().eventId() == 0
        && next.stream().sub().isEmpty()
        && next.incarnation().life() != PeerImport.NO_LIFE
        && hasImported(publisherRef)
        && next.events().stream().noneMatch(event -> event instanceof KvEvent.Gap);
  }

  /** Blocks of a dump may be gone as long as they count; then nothing is missing there. */
  void settleImports(PublisherId publisher, int publisherRef) {
    StreamState imports = table.streams().get(PeerImport.stream(publisher));
    if (imports != null && imports.row().at().gaps() > 0 && !hasImported(publisherRef)) {
      table.putLast(imports.ref(), imports.row().withGaps(0));
    }
  }

  // ------------------------------------------------------------------- owners

  /**
   * The owner of blocks stored now.
   *
   * @param nowMs the log's time of the record
   */
  OwnerState owner(EventRecord record, int tableRef, int publisherRef, Place place, long nowMs) {
    long expiresAtMs = expiresAtMs(record.traits(), place, nowMs);
    for (OwnerState owner : table.owners().live(publisherRef)) {
      OwnerRow row = owner.row();
      if (row.tableRef() == tableRef
          && row.owner().rank() == place.rank()
          && row.expiresAtMs() == expiresAtMs
          && Objects.equals(row.owner().backendId(), place.backendId())
          && media.isSame(row.owner().medium(), place.medium())) {
        return owner;
      }
    }
    PublisherRow publisher = table.publishers().get(publisherRef);
    PublisherId id = publisher.publisher();
    Owner owner =
        new Owner(
            id.tenantId(),
            id.instanceId(),
            id.dpRank(),
            place.rank(),
            place.medium(),
            record.type().isPool(),
            place.backendId(),
            publisher.life());
    return table.add(new OwnerRow(tableRef, publisherRef, owner, false, expiresAtMs, false));
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
      Owner of = owner.row().owner();
      boolean medium =
          place.medium() != null
              ? isSame(place.medium(), of)
              : of.pool() || media.tier(of.medium()) == Tier.DEVICE;
      boolean backend = place.backendId() == null || place.backendId().equals(of.backendId());
      if (medium && backend && (of.pool() || of.rank() == place.rank())) {
        found.add(owner);
      }
    }
    return found;
  }

  /** A dump names tiers: which medium of it the publisher means is not known. */
  private boolean isSame(String medium, Owner of) {
    return PeerImport.isImported(of.backendId())
        ? media.tier(medium) == media.tier(of.medium())
        : media.isSame(medium, of.medium());
  }

  /**
   * How repeated stores of one owner's blocks count. What outlives the process is announced again
   * by a new one, copies the former one stored included: no number of removals could be right.
   */
  CopyPolicy copies(SourceTraits traits, OwnerState owner) {
    return outlives(traits, owner.row().owner()) ? CopyPolicy.SET : traits.copies();
  }

  /** Lets owners of a publisher die; whether any is left. */
  boolean kill(int publisherRef, Predicate<Owner> which) {
    for (OwnerState owner : List.copyOf(table.owners().live(publisherRef))) {
      if (which.test(owner.row().owner())) {
        kill(owner);
      }
    }
    return !table.owners().live(publisherRef).isEmpty();
  }

  /** Lets those die whose time is over. */
  void expire(long nowMs) {
    table.owners().due(nowMs).forEach(this::kill);
  }

  /** From here on the owner is in no answer; its blocks go bit by bit. */
  private void kill(OwnerState owner) {
    table.waiting().of(owner.id()).forEach(table::remove);
    table.put(owner.id(), owner.row().died());
  }
}
