// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.replica.ReplicaId;
import io.kvindex.query.lookup.StreamsIndexAccess;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.PartitionProgress;
import io.kvindex.streams.PartitionProgress.Phase;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What a replica says of itself to the others. Members that newer versions add are passed over.
 *
 * @param copy name of the copy of the tables it keeps
 * @param version of its program, for people
 * @param notReady why it takes no traffic, null = it does
 * @param partitions all of them, in order
 * @param details those asked for and here, by number
 */
@JsonIgnoreProperties(ignoreUnknown = true)
record ReplicaStatus(
    String copy,
    String version,
    @Nullable String notReady,
    List<Part> partitions,
    Map<Integer, Detail> details) {

  ReplicaStatus {
    Objects.requireNonNull(copy);
    Objects.requireNonNull(version);
    partitions = List.copyOf(partitions);
    details = Map.copyOf(details);
  }

  /**
   * A partition as a replica has it.
   *
   * @param appliedOffset newest offset of the events topic that is visible, -1 = none
   * @param since see {@link PartitionView#since}
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Part(
      int partition,
      PartitionProgress progress,
      long recordsBehind,
      long appliedOffset,
      long since) {

    Part {
      if (progress.phase() == null) { // of a newer version: none that answers are to be had in
        progress =
            new PartitionProgress(
                Phase.CATCHING_UP, progress.done(), progress.total(), progress.perSecond());
      }
    }

    /** Whether it answers, however old that is. */
    boolean hasTable() {
      return switch (progress.phase()) {
        case CATCHING_UP, READY, STALE -> true;
        case ABSENT, BORROWING, LOADING -> false;
      };
    }
  }

  /** What it said of a partition, null = nothing. */
  @Nullable Part part(int partition) {
    for (Part part : partitions) {
      if (part.partition() == partition) {
        return part;
      }
    }
    return null;
  }

  /** What is visible of a partition's publishers. */
  @JsonIgnoreProperties(ignoreUnknown = true)
  record Detail(
      Map<PublisherId, StreamPosition> positions, Map<PublisherId, Map<String, Long>> blocks) {

    Detail {
      positions = Map.copyOf(positions);
      Map<PublisherId, Map<String, Long>> byPublisher = new HashMap<>(blocks);
      byPublisher.replaceAll((publisher, byMedium) -> Map.copyOf(byMedium));
      blocks = Map.copyOf(byPublisher);
    }
  }

  /**
   * This replica's.
   *
   * @param wanted partitions to tell of in detail, as far as there are such
   */
  static ReplicaStatus of(ReplicaId id, IndexPartitions here, int... wanted) {
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < here.partitions(); i++) {
      PartitionView view = here.view(i);
      long applied = view == null ? -1 : view.appliedOffset();
      long since = view == null ? 0 : view.since();
      parts.add(new Part(i, here.progress(i), here.recordsBehind(i), applied, since));
    }
    Map<Integer, Detail> details = new HashMap<>();
    IntStream known = IntStream.of(wanted).filter(p -> p >= 0 && p < here.partitions());
    for (int partition : known.distinct().toArray()) {
      PartitionView view = here.view(partition);
      if (view != null) {
        details.put(partition, detail(view));
      }
    }
    return new ReplicaStatus(
        id.copy(), id.version(), here.notReadyReason(p -> true), parts, details);
  }

  private static Detail detail(PartitionView view) {
    Map<PublisherId, StreamPosition> positions = new HashMap<>();
    view.positions()
        .forEach(
            (stream, position) -> {
              // Nobody waits for one of the many streams of a standard publisher.
              if (stream.equals(StreamId.of(stream.publisher()))) {
                positions.put(stream.publisher(), position);
              }
            });
    Map<PublisherId, Map<String, Long>> blocks = new HashMap<>();
    StreamsIndexAccess.addBlocks(view, blocks);
    return new Detail(positions, blocks);
  }
}
