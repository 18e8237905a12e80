// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.chaos.Protection;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.StreamRow;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.StreamState;

/**
 * What begins and ends with the lives of publishers (docs/adr/0002-lives.md). For the thread that
 * owns the task.
 */
final class Lives {

  private final PartitionTable table;
  private final OwnerBook book;
  private final RowRefs refs;

  Lives(PartitionTable table, OwnerBook book, RowRefs refs) {
    this.table = table;
    this.book = book;
    this.refs = refs;
  }

  /** The newest life of the record's publisher, that of the record if it is not known yet. */
  Incarnation of(EventRecord next) {
    Integer ref = table.publishers().ref(next.stream().publisher());
    return ref == null ? next.incarnation() : table.publishers().get(ref).life();
  }

  /**
   * Begins that of a record, if it is newer: whatever older ones announced is dead from here on.
   */
  void begin(EventRecord first) {
    int ref = refs.ofPublisher(first);
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
      table.put(
          RowKeys.ofId(RowKind.PUBLISHER, ref),
          (kept ? known.outlived(first.incarnation()) : reborn).encode());
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
  void settleOthers(StreamId own, int ref, boolean kept) {
    for (StreamState stream : table.streams().of(own.publisher())) {
      StreamRow row = stream.row();
      boolean counts = PeerImport.isImport(row.stream()) ? book.hasImported(ref) : kept;
      long left = counts ? Math.max(row.gaps(), stream.held().isEmpty() ? 0 : 1) : 0;
      if (left != row.gaps() && !row.stream().equals(own)) {
        table.putLast(RowKeys.ofId(RowKind.STREAM, stream.ref()), row.withGaps(left).encode());
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

  /** Forgets what peers said of a record's publisher, if it tells all of it itself. */
  void forgetImports(EventRecord next, int publisherRef) {
    if (beginsAtStart(next, publisherRef)) {
      book.killImported(publisherRef);
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
        && book.hasImported(publisherRef)
        && next.events().stream().noneMatch(event -> event instanceof KvEvent.Gap);
  }

  /** Blocks of a dump may be gone as long as they count; then nothing is missing there. */
  void settleImports(PublisherId publisher, int publisherRef) {
    StreamState imports = table.streams().get(PeerImport.stream(publisher));
    if (imports != null && imports.row().gaps() > 0 && !book.hasImported(publisherRef)) {
      table.putLast(
          RowKeys.ofId(RowKind.STREAM, imports.ref()), imports.row().withGaps(0).encode());
    }
  }

  /** Groups of a block that is made of several objects: it counts from its last one on. */
  static long allShards(int shards) {
    return shards == 1 ? 0 : -1L >>> Long.SIZE - shards;
  }
}
