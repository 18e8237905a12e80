// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.Media.Tier;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.event.Place;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.Publisher;
import io.kvindex.streams.view.StreamPosition;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Applies the events of one record. For the thread that owns the table. */
final class Applier implements KvEvent.Visitor {

  /** Blocks the memory is asked for at a time, where each is an event of its own. */
  private static final int TOUCHED = 512;

  private final PartitionTable table;
  private final Lives lives;
  private final Counts counts;
  private final CopyJudge judge;
  private final Storing storing;
  private final Holding holding;
  private final Media media = Media.standard();
  private @Nullable EventRecord record;
  private @Nullable Publisher publisher;
  private int tableRef;
  private long gaps;
  private @Nullable Position last;
  private long nowMs;

  /** Where the removals before this event were of, null = there are none right before it. */
  private @Nullable Place removedFrom;

  /** Whom those spoke of, and how copies of each count. */
  private List<OwnerState> removedOf = List.of();

  private CopyPolicy[] removedAs = {};

  private int undecided;
  private int removedKnown;
  private int removedUnknown;
  private final long[] removals = new long[TOUCHED];

  Applier(PartitionTable table, Lives lives, Counts counts, Limits limits) {
    this.table = table;
    this.lives = lives;
    this.counts = counts;
    judge = new CopyJudge(table, limits);
    storing = new Storing(table, judge, counts, limits);
    holding = new Holding(table);
  }

  /**
   * Applies a record whose turn it is.
   *
   * @param before where its stream is before it, in the same life
   * @param appendTimeMs the log's time of it
   * @return holes of the stream after it
   */
  long apply(EventRecord next, StreamPosition before, long appendTimeMs) {
    record = next;
    nowMs = appendTimeMs;
    gaps = before.gaps();
    last = before.last();
    tableRef = table.refOf(next.table());
    Publisher by = table.publisher(next.stream().publisher(), next.incarnation());
    publisher = by;
    lives.forgetImports(next, by);
    storing.begin(next);
    removedFrom = null;
    touchRemoved(next.events());
    for (KvEvent event : next.events()) {
      if (!(event instanceof KvEvent.Removed)) {
        removedFrom = null; // it may change whom a removal speaks of
      }
      event.accept(this);
    }
    countRemoved();
    return PeerImport.isImport(next.stream()) && lives.hasImported(by) ? 1 : gaps;
  }

  private EventRecord current() {
    return Objects.requireNonNull(record);
  }

  private Publisher publisher() {
    return Objects.requireNonNull(publisher);
  }

  @Override
  public void stored(KvEvent.Stored event) {
    Place place = event.place();
    if (place.group() >= Publisher.MAX_GROUPS) {
      counts.add(Outcome.GROUP_LIMIT, event.engineHashes().size());
      return;
    }
    publisher().use(1L << place.group() | Lives.allShards(current().traits().shards()));
    OwnerState owner = lives.owner(current(), tableRef, publisher(), place, nowMs);
    storing.noteDevice(current(), publisher(), place);
    CopyPolicy copies = lives.copies(current().traits(), owner);
    Origin origin = judge.origin(event, owner, copies, gaps == 0);
    Storing.Who who = new Storing.Who(owner, copies, origin);
    storing.store(current(), tableRef, publisher(), event, who);
    counts.add(Outcome.BLOCKS_STORED, event.engineHashes().size());
  }

  @Override
  public void taught(KvEvent.Taught event) {
    storing.store(current(), tableRef, publisher(), event.blocks(), null);
  }

  @Override
  public void removed(KvEvent.Removed event) {
    if (!event.place().equals(removedFrom)) {
      removedFrom = event.place();
      removedOf = lives.addressed(publisher(), event.place());
      removedAs = new CopyPolicy[removedOf.size()];
      Arrays.setAll(removedAs, o -> lives.copies(current().traits(), removedOf.get(o)));
    }
    Hashes hashes = event.engineHashes();
    if (hashes.size() > 1 && !removedOf.isEmpty()) {
      holding.touch(removedOf.get(0), hashes); // a publisher's names are in the same spaces
    }
    int known = 0;
    for (int i = 0; i < hashes.size(); i++) {
      boolean there = false;
      for (int o = 0; o < removedOf.size(); o++) {
        Holding change = holding.read(removedOf.get(o), hashes.get(i), event.place().group());
        boolean present = change.isPresent();
        there |=
            event.remainingCopies().size() > i
                ? change.remain(event.remainingCopies().get(i))
                : change.remove(removedAs[o]);
        undecided += present && change.isUndecided() ? 1 : 0;
        judge.removed(change);
        change.write();
        storing.removed(hashes.get(i), change);
      }
      known += there ? 1 : 0;
    }
    removedKnown += known;
    removedUnknown += hashes.size() - known;
  }

  /**
   * Asks the memory for blocks that are taken away one by one, as engines say it: each would be
   * waited for.
   */
  private void touchRemoved(List<KvEvent> events) {
    int count = 0;
    for (KvEvent event : events) {
      if (event instanceof KvEvent.Removed one && one.engineHashes().size() == 1) {
        if (count == removals.length) {
          break;
        }
        removals[count++] = one.engineHashes().get(0);
      }
    }
    List<OwnerState> owners = publisher().live();
    if (count > 1 && !owners.isEmpty()) {
      holding.touch(owners.get(0), Hashes.of(Arrays.copyOf(removals, count)));
    }
  }

  /** Once a record: counters are slow beside what a block costs. */
  private void countRemoved() {
    count(Outcome.COPIES_UNDECIDED, undecided);
    count(Outcome.BLOCKS_REMOVED, removedKnown);
    count(Outcome.REMOVED_UNKNOWN, removedUnknown);
    undecided = 0;
    removedKnown = 0;
    removedUnknown = 0;
  }

  private void count(Outcome outcome, int blocks) {
    if (blocks > 0) {
      counts.add(outcome, blocks);
    }
  }

  @Override
  public void cleared(KvEvent.Cleared event) {
    boolean left = lives.kill(publisher(), owner -> covers(event, owner));
    publisher().clear();
    lives.settleImports(publisher());
    // Whether it covers all that the stream ever announced, and no other stream's blocks.
    boolean ofStream =
        event.scope() == KvEvent.ClearScope.STREAM && !current().stream().sub().isEmpty();
    if (!left || ofStream) {
      // What was missed spoke of blocks that are all gone now.
      gaps = 0;
    }
  }

  private boolean covers(KvEvent.Cleared event, Owner owner) {
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
    lives.retire(current(), publisher());
    gaps = 0;
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
