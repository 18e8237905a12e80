// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lookup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.query.deadline.Deadline;
import io.kvindex.query.error.ApiException;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.index.PrefixReader;
import io.kvindex.streams.index.RunVisitor;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.DumpVisitor;
import io.kvindex.streams.view.HeldBlock;
import io.kvindex.streams.view.OwnerIdentity;
import io.kvindex.streams.view.PartitionDigest;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class StreamsIndexAccessTest {

  private static final int PARTITIONS = 12;
  private static final PublisherId WHO = new PublisherId("vllm-1", "default", 0);

  private final Partitions partitions = new Partitions();
  private final StreamsIndexAccess access = new StreamsIndexAccess(partitions, () -> 0);

  /** Rows of streams are never deleted: the table it left still knows the publisher. */
  @Test
  void shouldTellThePositionInTheTableRegistered_whenThePublisherLeftAnother() {
    TableId left = tableIn(3);
    TableId now = tableIn(8);
    partitions.put(3, position(5, 900));
    partitions.put(8, position(7, 4));
    assertThat(access.position(now, WHO)).isEqualTo(position(7, 4));
    assertThat(access.position(left, WHO)).isEqualTo(position(5, 900));
  }

  @Test
  void shouldTellNoPosition_whenOnlyTheTableItLeftKnowsThePublisher() {
    partitions.put(3, position(5, 900));
    partitions.put(8, null);
    assertThat(access.position(tableIn(8), WHO)).isNull();
    assertThat(access.position(tableIn(9), WHO)).isNull();
  }

  @Test
  void shouldCallAnswersStale_whileThePartitionIsFarBehindTheLog() {
    TableId table = tableIn(3);
    partitions.put(3, null);
    assertThat(trust(table)).isEqualTo(Trust.EXACT);
    partitions.keepsUp = false;
    assertThat(trust(table)).isEqualTo(Trust.STALE);
  }

  @Test
  void shouldTellWhatWaitsInTheLog_whenEnginesAreReadElsewhere() {
    TableId table = tableIn(3);
    partitions.put(3, null);
    partitions.ageMs = 700;
    StreamsIndexAccess alone =
        new StreamsIndexAccess(partitions, () -> StreamsIndexAccess.READ_ELSEWHERE);
    assertThat(Objects.requireNonNull(alone.view(table)).lagMs()).isEqualTo(700);
    assertThat(Objects.requireNonNull(access.view(table)).lagMs()).isZero();
    partitions.keepsUp = false;
    assertThat(Objects.requireNonNull(access.view(table)).lagMs()).isEqualTo(700);
  }

  /** What told of the event may have been another replica, and this one not be so far. */
  @Test
  void shouldRefuse_whenTheAwaitedEventIsNotInWhatIsRead() {
    partitions.put(3, null);
    TableView view = Objects.requireNonNull(access.view(tableIn(3)));
    partitions.appliedOffset = 41;
    assertThatThrownBy(() -> view.within(Deadline.NONE, 42))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("offset 42");
    partitions.appliedOffset = 42;
    assertThat(
            view.within(Deadline.NONE, 42)
                .walk(new PrefixReader(), (out, from, max) -> 0, new long[1], new NoRuns()))
        .isZero();
  }

  private static final class NoRuns implements RunVisitor {
    @Override
    public boolean change(int position, long[] ownerBits) {
      return true;
    }

    @Override
    public void end(int position) {}
  }

  private Trust trust(TableId table) {
    return Objects.requireNonNull(access.view(table)).trust();
  }

  private static TableId tableIn(int partition) {
    return IntStream.range(1, 10_000)
        .mapToObj(size -> new TableId("default", "m", size, HashProfile.XXH3_DEFAULT))
        .filter(table -> TablePartition.of(table, PARTITIONS) == partition)
        .findFirst()
        .orElseThrow();
  }

  private static StreamPosition position(long life, long event) {
    return new StreamPosition(
        new Incarnation(3, life, 0),
        EventRecord.Position.whole(event),
        1,
        1_000_000,
        1_000,
        0,
        false);
  }

  private static final class Partitions implements IndexPartitions {
    private final Map<Integer, PartitionView> views = new HashMap<>();
    private boolean keepsUp = true;
    private long ageMs;
    private long appliedOffset = -1;

    void put(int partition, @Nullable StreamPosition position) {
      views.put(partition, new View(partition, position, () -> appliedOffset));
    }

    @Override
    public int partitions() {
      return PARTITIONS;
    }

    @Override
    public long ageMs(int partition) {
      return ageMs;
    }

    @Override
    public @Nullable PartitionView view(int partition) {
      return views.get(partition);
    }

    @Override
    public boolean keepsUp(int partition) {
      return keepsUp;
    }

    @Override
    public @Nullable String notReadyReason() {
      return null;
    }
  }

  /** A partition in which one publisher is known. */
  private record View(int partition, @Nullable StreamPosition known, LongSupplier applied)
      implements PartitionView {

    @Override
    public boolean isClosed() {
      return false;
    }

    @Override
    public Map<TableId, PrefixIndex> tables() {
      return Map.of();
    }

    @Override
    public Collection<ContextNames> contexts(TableId table) {
      return List.of();
    }

    @Override
    public @Nullable String loraName(TableId table, String instanceId, long loraId) {
      return null;
    }

    @Override
    public @Nullable StreamPosition position(StreamId stream) {
      return stream.equals(StreamId.of(WHO)) ? known : null;
    }

    @Override
    public Map<StreamId, StreamPosition> positions() {
      return known == null ? Map.of() : Map.of(StreamId.of(WHO), known);
    }

    @Override
    public Set<PublisherId> degradedPublishers() {
      return Set.of();
    }

    @Override
    public int heldRecords() {
      return 0;
    }

    @Override
    public int orphans() {
      return 0;
    }

    @Override
    public long since() {
      return 0;
    }

    @Override
    public long appliedOffset() {
      return applied.getAsLong();
    }

    @Override
    public void dump(TableId table, LongPredicate wanted, DumpVisitor visitor) {
      throw new UnsupportedOperationException();
    }

    @Override
    public PartitionDigest digest(Predicate<OwnerIdentity> wanted) {
      throw new UnsupportedOperationException();
    }

    @Override
    public @Nullable List<HeldBlock> blocks(String ownerId, long from, int most) {
      throw new UnsupportedOperationException();
    }
  }
}
