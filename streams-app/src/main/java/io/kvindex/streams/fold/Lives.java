// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.model.Media.Tier;
import io.kvindex.model.StreamId;
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.Publisher;
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
    Publisher known = table.publishers().find(next.stream().publisher());
    return known == null ? next.incarnation() : known.life();
  }

  /**
   * Begins that of a record, if it is newer: whatever older ones announced is dead from here on,
   * except on media that outlive the process.
   */
  void begin(EventRecord first) {
    Incarnation life = first.incarnation();
    Publisher publisher = table.publisher(first.stream().publisher(), life);
    Incarnation former = publisher.life();
    if (Sequencer.compareLives(life, former) > 0) {
      boolean kept = Protection.FENCING.isOff();
      boolean sameSource = life.generation() == former.generation();
      boolean firstLife = sameSource && former.life() == PeerImport.NO_LIFE;
      // Before its first life there is nothing of it but what peers said.
      if (!kept && !firstLife) {
        boolean any = sameSource && sameGroups(publisher, first.traits());
        kept = kill(publisher, owner -> !any || !outlives(first.traits(), owner));
      }
      publisher.begin(life, kept);
      settleOthers(first.stream(), publisher, kept);
    }
  }

  /**
   * Whether blocks of the former life can be judged by the groups of the new one. Those it learnt
   * from stores need not be the new one's, which would then never hold a whole block: what outlived
   * the process is rather forgotten.
   */
  private static boolean sameGroups(Publisher former, SourceTraits traits) {
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
  private void settleOthers(StreamId own, Publisher publisher, boolean kept) {
    for (StreamState stream : table.streams().of(publisher.id())) {
      boolean counts = PeerImport.isImport(stream.id()) ? hasImported(publisher) : kept;
      long gaps = stream.at().gaps();
      long left = counts ? Math.max(gaps, stream.held().isEmpty() ? 0 : 1) : 0;
      if (left != gaps && !stream.id().equals(own)) {
        table.putLast(stream.id(), stream.at().withGaps(left));
      }
    }
  }

  /** Whether blocks announced by a former life of the record's publisher still count. */
  boolean keepsFormer(EventRecord next) {
    Publisher publisher = table.publishers().find(next.stream().publisher());
    return publisher != null
        && publisher.live().stream()
            .map(OwnerState::owner)
            .anyMatch(
                owner ->
                    Sequencer.compareLives(owner.incarnation(), publisher.life()) < 0
                        && outlives(next.traits(), owner));
  }

  private boolean outlives(SourceTraits traits, Owner owner) {
    return !traits.persistentMedia().isEmpty()
        && !PeerImport.isImported(owner.backendId())
        && traits.persistentMedia().contains(media.answerKey(owner.medium()));
  }

  /** A publisher is gone: all of it dies but what peers said of the generation that follows. */
  void retire(EventRecord last, Publisher publisher) {
    long generation = last.incarnation().generation();
    kill(
        publisher,
        owner ->
            !PeerImport.isImported(owner.backendId())
                || owner.incarnation().generation() < generation);
    settleOthers(last.stream(), publisher, false);
  }

  // ------------------------------------------------------------------- what peers said

  /** Whether blocks of a peer's dump count for a publisher. */
  boolean hasImported(Publisher publisher) {
    return publisher.live().stream()
        .anyMatch(owner -> PeerImport.isImported(owner.owner().backendId()));
  }

  /**
   * Forgets what peers said of a record's publisher, if it tells all of its cache itself, from its
   * first batch on.
   */
  void forgetImports(EventRecord next, Publisher publisher) {
    if (next.position().eventId() == 0
        && next.stream().sub().isEmpty()
        && next.incarnation().life() != PeerImport.NO_LIFE
        && hasImported(publisher)
        && next.events().stream().noneMatch(event -> event instanceof KvEvent.Gap)) {
      kill(publisher, owner -> PeerImport.isImported(owner.backendId()));
      settleImports(publisher);
    }
  }

  /** Blocks of a dump may be gone as long as they count; then nothing is missing there. */
  void settleImports(Publisher publisher) {
    StreamState imports = table.streams().get(PeerImport.stream(publisher.id()));
    if (imports != null && imports.at().gaps() > 0 && !hasImported(publisher)) {
      table.putLast(imports.id(), imports.at().withGaps(0));
    }
  }

  // ------------------------------------------------------------------- owners

  /**
   * The owner of blocks stored now.
   *
   * @param nowMs the log's time of the record
   */
  OwnerState owner(EventRecord record, int tableRef, Publisher publisher, Place place, long nowMs) {
    long expiresAtMs = expiresAtMs(record.traits(), place, nowMs);
    for (OwnerState owner : publisher.live()) {
      Owner of = owner.owner();
      if (owner.tableRef() == tableRef
          && of.rank() == place.rank()
          && owner.expiresAtMs() == expiresAtMs
          && Objects.equals(of.backendId(), place.backendId())
          && media.isSame(of.medium(), place.medium())) {
        return owner;
      }
    }
    boolean pool = record.type().isPool();
    return table.owners().add(tableRef, publisher, place, pool, expiresAtMs);
  }

  /** End of the time the blocks count for, never more than what was asked for from now on. */
  private long expiresAtMs(SourceTraits traits, Place place, long nowMs) {
    long lifetimeMs = traits.expirySeconds() * 1_000L;
    if (lifetimeMs == 0 || media.tier(place.medium()) == Tier.DEVICE) {
      return OwnerState.NEVER;
    }
    long slice = lifetimeMs / SLICES;
    return Math.floorDiv(nowMs, slice) * slice + lifetimeMs;
  }

  /** Owners a removal speaks of: one medium, else the device tier, else for a pool all of it. */
  List<OwnerState> addressed(Publisher publisher, Place place) {
    List<OwnerState> found = new ArrayList<>();
    for (OwnerState owner : publisher.live()) {
      Owner of = owner.owner();
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
    return outlives(traits, owner.owner()) ? CopyPolicy.SET : traits.copies();
  }

  /** Lets owners of a publisher die; whether any is left. */
  boolean kill(Publisher publisher, Predicate<Owner> which) {
    for (OwnerState owner : List.copyOf(publisher.live())) {
      if (which.test(owner.owner())) {
        kill(owner);
      }
    }
    return !publisher.live().isEmpty();
  }

  /** Lets those die whose time is over. */
  void expire(long nowMs) {
    table.owners().due(nowMs).forEach(this::kill);
  }

  /** From here on the owner is in no answer; its blocks go bit by bit. */
  private void kill(OwnerState owner) {
    table.waiting().of(owner.id()).forEach(table::remove);
    table.owners().kill(owner);
  }
}
