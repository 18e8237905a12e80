// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.streams.index.BlockKeys;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.PrefixReader;
import io.kvindex.streams.index.RunVisitor;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** A replica with a copy of the one partition there is, and two others as a test says. */
abstract class OneOfThree {
  static final TableId TABLE = new TableId("t", "m", 16, HashProfile.XXH3_DEFAULT);
  static final String FIRST = "first:1";
  static final String SECOND = "second:1";
  static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(250);

  @Nullable PartitionView here;
  boolean wasClose = true;
  boolean isHere = true;
  final AtomicLong nowNs = new AtomicLong();
  final Own own = new Own();
  final StandInReplicas others = new StandInReplicas();
  List<String> group = List.of(FIRST, SECOND);
  final ReplicatedIndexAccess access =
      new ReplicatedIndexAccess(
          own, new Here(), Relayed.ID, () -> group, others, new SimpleMeterRegistry(), nowNs::get);

  static @Nullable String answeredBy(@Nullable TableView view) {
    Walks.empty(view);
    return Objects.requireNonNull(view).answeredBy();
  }

  /** A table folded from that offset on. */
  static PartitionView since(long offset) {
    var view = new PartitionTable(0, new Epochs(), new Journal(new Journal.Pieces()));
    view.foldedSince(offset);
    return view;
  }

  void looks(int times) {
    for (int i = 0; i < times; i++) {
      nowNs.addAndGet(LOOK_NS);
      access.others().look();
    }
  }

  final class Own extends Relayed.NoTables {
    Trust trust = Trust.STALE;
    long lagMs;
    @Nullable TableView copy = new Copy(-1);

    @Override
    public @Nullable TableView view(TableId table) {
      return copy;
    }
  }

  final class Copy implements TableView {
    private final long lagMs;

    /**
     * @param lagMs -1 = what is set for this replica's own
     */
    Copy(long lagMs) {
      this.lagMs = lagMs;
    }

    @Override
    public int walk(PrefixReader reader, BlockKeys keys, long[] xors, RunVisitor visitor) {
      visitor.begin(OwnerView.of(1, new Owner[0]));
      visitor.end(0);
      return 0;
    }

    @Override
    public long blockCount() {
      return 0;
    }

    @Override
    public Trust trust() {
      return own.trust;
    }

    @Override
    public long lagMs() {
      return lagMs < 0 ? own.lagMs : lagMs;
    }

    @Override
    public Set<PublisherId> degradedPublishers() {
      return Set.of();
    }
  }

  final class Here extends Relayed.Placed {

    Here() {
      super("");
    }

    @Override
    public @Nullable PartitionView view(int partition) {
      return here;
    }

    @Override
    public boolean wasClose(int partition) {
      return wasClose;
    }

    @Override
    public @Nullable String notReadyReason(IntPredicate elsewhere) {
      return isHere || elsewhere.test(0) ? null : "partition 0 is not here";
    }
  }
}
