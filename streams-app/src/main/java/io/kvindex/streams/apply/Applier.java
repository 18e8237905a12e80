// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.model.Media.Tier;
import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.streams.row.OwnerRow;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.StreamRow;
import io.kvindex.streams.row.TableRow;
import io.kvindex.streams.sequence.Sequencer;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.StreamState;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Turns the events of one record into row changes. For the thread that owns the task. */
final class Applier implements KvEvent.Visitor {

  private final PartitionTable table;
  private final RowBatch batch;
  private final Storing storing;
  private final Counts counts;
  private final OwnerBook book;
  private final Media media = Media.standard();
  private @Nullable EventRecord record;
  private int tableRef;
  private int publisherRef;
  private long gaps;
  private @Nullable Position last;
  private long nowMs;

  Applier(PartitionTable table, RowBatch batch, Storing storing, Counts counts) {
    this.table = table;
    this.batch = batch;
    this.storing = storing;
    this.counts = counts;
    this.book = new OwnerBook(table, batch);
  }

  /**
   * Applies a record whose turn it is.
   *
   * @param before the stream before it, in the same life
   * @param appendTimeMs the log's time of it
   * @return holes of the stream after it
   */
  long apply(EventRecord next, StreamRow before, long appendTimeMs) {
    record = next;
    nowMs = appendTimeMs;
    gaps = before.gaps();
    last = before.last();
    tableRef = tableRef(next);
    publisherRef = publisherRef(next);
    if (beginsAtStart(next)) {
      book.killImported(publisherRef);
      settleImports(next.stream().publisher());
    }
    next.events().forEach(event -> event.accept(this));
    return PeerImport.isImport(next.stream()) && book.hasImported(publisherRef) ? 1 : gaps;
  }

  /**
   * Whether a publisher tells all of its cache from its first batch on: what peers said of it is of
   * no account any more.
   */
  private boolean beginsAtStart(EventRecord next) {
    return next.position().eventId() == 0
        && next.stream().sub().isEmpty()
        && next.incarnation().life() != PeerImport.NO_LIFE
        && book.hasImported(publisherRef)
        && next.events().stream().noneMatch(event -> event instanceof KvEvent.Gap);
  }

  /** Blocks of a dump may be gone as long as they count; then nothing is missing there. */
  private void settleImports(PublisherId publisher) {
    StreamState imports = table.streams().get(PeerImport.stream(publisher));
    if (imports != null && imports.row().gaps() > 0 && !book.hasImported(publisherRef)) {
      batch.position(imports.ref(), imports.row().withGaps(0));
    }
  }

  /** Starts a life: whatever older ones announced is dead from here on. */
  void beginLife(EventRecord first) {
    int ref = publisherRef(first);
    PublisherRow known = table.publishers().get(ref);
    if (Sequencer.compareLives(first.incarnation(), known.life()) > 0) {
      boolean kept = Protection.FENCING.isOff();
      boolean sameSource = first.incarnation().generation() == known.life().generation();
      boolean firstLife = sameSource && known.life().life() == PeerImport.NO_LIFE;
      // Before its first life there is nothing of it but what peers said.
      if (!kept && sameSource && !firstLife && sameGroups(known, first.traits())) {
        kept = book.endLife(ref, first.traits());
      } else if (!kept && !firstLife) {
        book.killAll(ref);
      }
      PublisherRow reborn = known.reborn(first.incarnation());
      batch.put(
          RowKeys.ofId(RowKind.PUBLISHER, ref),
          (kept ? reborn.withGroups(known.groups()) : reborn).encode());
      settleOthers(first.stream(), ref, kept);
    }
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
      boolean counts = PeerImport.isImport(row.stream()) ? book.hasImported(ref) : kept;
      long left = counts ? Math.max(row.gaps(), stream.held().isEmpty() ? 0 : 1) : 0;
      if (left != row.gaps() && !row.stream().equals(own)) {
        batch.position(stream.ref(), row.withGaps(left));
      }
    }
  }

  /**
   * Whether blocks of the former life can be judged by the groups of the new one. Those it learnt
   * from stores need not be the new one's, which would then never hold a whole block: what outlived
   * the process is rather forgotten.
   */
  private static boolean sameGroups(PublisherRow former, SourceTraits traits) {
    return !former.hasSeveralGroups() || former.groups() == allShards(traits.shards());
  }

  /** Whether blocks announced by a former life of the record's publisher still count. */
  boolean keepsFormer(EventRecord next) {
    Integer ref = table.publishers().ref(next.stream().publisher());
    return ref != null && book.keepsFormer(ref, next.traits());
  }

  /**
   * Lets blocks go whose time is over.
   *
   * @param appendTimeMs the log's time, the only one that counts
   * @return whether there is something to commit
   */
  boolean expire(long appendTimeMs) {
    return book.expire(appendTimeMs);
  }

  /** The newest life of the record's publisher, that of the record if it is not known yet. */
  Incarnation life(EventRecord next) {
    Integer ref = table.publishers().ref(next.stream().publisher());
    return ref == null ? next.incarnation() : table.publishers().get(ref).life();
  }

  private EventRecord current() {
    return Objects.requireNonNull(record);
  }

  private int tableRef(EventRecord next) {
    Integer known = table.tables().tableRef(next.table());
    if (known != null) {
      return known;
    }
    int ref = table.tables().nextTable();
    batch.put(RowKeys.ofId(RowKind.TABLE, ref), new TableRow(next.table()).encode());
    return ref;
  }

  private int publisherRef(EventRecord next) {
    Integer known = table.publishers().ref(next.stream().publisher());
    if (known != null) {
      return known;
    }
    int ref = table.publishers().next();
    PublisherRow row =
        new PublisherRow(next.stream().publisher(), Incarnation.NONE, 0).reborn(next.incarnation());
    batch.put(RowKeys.ofId(RowKind.PUBLISHER, ref), row.encode());
    return ref;
  }

  @Override
  public void stored(KvEvent.Stored event) {
    Place place = event.place();
    PublisherRow publisher = table.publishers().get(publisherRef);
    if (place.group() >= PublisherRow.MAX_GROUPS) {
      counts.add(Outcome.GROUP_LIMIT, event.engineHashes().size());
      return;
    }
    long groups = 1L << place.group() | allShards(current().traits().shards());
    if ((groups & ~publisher.groups()) != 0) {
      batch.put(
          RowKeys.ofId(RowKind.PUBLISHER, publisherRef), publisher.withGroups(groups).encode());
    }
    OwnerState owner = book.open(current(), tableRef, publisherRef, place, nowMs);
    CopyPolicy copies = book.copies(current().traits(), owner);
    storing.store(current(), event, new Storing.Holder(owner, copies), tableRef, publisherRef);
    counts.add(Outcome.BLOCKS_STORED, event.engineHashes().size());
  }

  /** Groups of a block that is made of several objects: it counts from its last one on. */
  private static long allShards(int shards) {
    return shards == 1 ? 0 : -1L >>> Long.SIZE - shards;
  }

  @Override
  public void taught(KvEvent.Taught event) {
    storing.store(current(), event.blocks(), null, tableRef, publisherRef);
  }

  @Override
  public void removed(KvEvent.Removed event) {
    List<OwnerState> owners = book.addressed(publisherRef, event.place());
    List<CopyPolicy> copies =
        owners.stream().map(owner -> book.copies(current().traits(), owner)).toList();
    Hashes hashes = event.engineHashes();
    int known = 0;
    for (int i = 0; i < hashes.size(); i++) {
      boolean there = false;
      for (int o = 0; o < owners.size(); o++) {
        BlockChange change = batch.blocks().of(owners.get(o), hashes.get(i), event.place().group());
        there |=
            event.remainingCopies().size() > i
                ? change.remain(event.remainingCopies().get(i))
                : change.remove(copies.get(o));
      }
      known += there ? 1 : 0;
    }
    count(Outcome.BLOCKS_REMOVED, known);
    count(Outcome.REMOVED_UNKNOWN, hashes.size() - known);
  }

  /** Once an event: counters are slow beside what a block costs. */
  private void count(Outcome outcome, int blocks) {
    if (blocks > 0) {
      counts.add(outcome, blocks);
    }
  }

  @Override
  public void cleared(KvEvent.Cleared event) {
    for (OwnerState owner : List.copyOf(table.owners().live(publisherRef))) {
      if (covers(event, owner.row())) {
        book.kill(owner);
      }
    }
    PublisherRow publisher = table.publishers().get(publisherRef);
    batch.put(RowKeys.ofId(RowKind.PUBLISHER, publisherRef), publisher.cleared().encode());
    settleImports(publisher.publisher());
    if (table.owners().live(publisherRef).isEmpty() || isOfStream(event)) {
      // What was missed spoke of blocks that are all gone now.
      gaps = 0;
    }
  }

  /** Whether it covers all that the stream ever announced, and no other stream's blocks. */
  private boolean isOfStream(KvEvent.Cleared event) {
    return event.scope() == KvEvent.ClearScope.STREAM && !current().stream().sub().isEmpty();
  }

  private boolean covers(KvEvent.Cleared event, OwnerRow owner) {
    Tier tier = media.tier(owner.medium());
    return switch (event.scope()) {
      case ALL -> true;
      case STREAM -> current().stream().sub().equals(owner.backendId());
      case DEVICE -> owner.rank() == event.rank() && tier == Tier.DEVICE;
      case DEVICE_AND_HOST ->
          owner.rank() == event.rank() && (tier == Tier.DEVICE || tier == Tier.HOST);
    };
  }

  @Override
  public void gap(KvEvent.Gap event) {
    if (!isBehind(event)) {
      gaps++;
      counts.add(Outcome.GAP);
    }
  }

  /**
   * Whether all of it is here: a bridge that never heard of the last acknowledgements of the one
   * before it misses what Kafka has.
   */
  private boolean isBehind(KvEvent.Gap event) {
    if (last == null || !current().stream().sub().isEmpty()) {
      return false;
    }
    int order = Long.compareUnsigned(event.to(), last.eventId());
    return order < 0 || order == 0 && last.last();
  }

  @Override
  public void retired(KvEvent.Retired event) {
    book.killBefore(publisherRef, current().incarnation().generation());
    gaps = 0;
    settleOthers(current().stream(), publisherRef, false);
  }

  @Override
  public void begun(KvEvent.Begun event) {
    // Its life was begun with its record.
  }

  @Override
  public void retold(KvEvent.Retold event) {
    // Its stream notes that; holes remain holes.
  }
}
