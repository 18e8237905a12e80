// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.PartitionProgress.Phase;
import io.kvindex.streams.table.TableView;
import io.kvindex.streams.view.PartitionView;
import org.jspecify.annotations.Nullable;

/** Whether a replica can answer as it should, and what it waits for if not. Thread-safe. */
final class Readiness {

  private final int partitions;
  private final LocalViews views;
  private final Lag lag;
  private final RestoreWatch restores;
  private final Replicas replicas;
  private final StreamFailures failures;

  /** How far the tables are behind the log. Thread-safe. */
  interface Lag {

    /** Whether a partition is caught up and close behind the log. */
    boolean keepsUp(int partition);

    /** Whether all was applied once that the log held at the first look. */
    boolean caughtUp(int partition);

    /** How far catching up is. */
    PartitionProgress progress(int partition);

    /** Why a partition is too far behind for the replica to be ready, null = it is not. */
    @Nullable String tooFarBehind(int partition);
  }

  private volatile boolean leaving;

  Readiness(
      int partitions,
      LocalViews views,
      Lag lag,
      RestoreWatch restores,
      Replicas replicas,
      StreamFailures failures) {
    this.partitions = partitions;
    this.views = views;
    this.lag = lag;
    this.restores = restores;
    this.replicas = replicas;
    this.failures = failures;
  }

  /** The replica is about to go; what it has is answered from until it does. */
  void leave() {
    leaving = true;
  }

  /** Why it is not ready, null = it is. */
  @Nullable String notReadyReason() {
    if (leaving) {
      return IndexPartitions.LEAVING;
    }
    String givenUp = failures.givenUp();
    if (givenUp != null) {
      return givenUp;
    }
    for (int partition = 0; partition < partitions; partition++) {
      String reason = notRestoredReason(partition);
      if (reason != null) {
        return reason;
      }
    }
    for (int partition = 0; partition < partitions; partition++) {
      String reason = tooFarBehind(partition);
      if (reason != null) {
        return reason;
      }
    }
    return null;
  }

  /** The same for one partition; one that others hold is asked of them. */
  @Nullable String notReadyReason(int partition) {
    String givenUp = failures.givenUp();
    if (givenUp != null && !replicas.isElsewhere(partition)) {
      return givenUp;
    }
    String reason = notRestoredReason(partition);
    return reason == null ? tooFarBehind(partition) : reason;
  }

  /**
   * What is left here of a partition that went elsewhere grows old: who holds it is asked, and how
   * far that one is behind counts only until all is visible again that the log held at first.
   */
  private @Nullable String tooFarBehind(int partition) {
    PartitionView view = views.served().get(partition);
    boolean elsewhere = replicas.isElsewhere(partition);
    boolean left = view != null && view.state() == PartitionView.State.CLOSED;
    if (elsewhere && (left || view == null && lag.caughtUp(partition))) {
      return null;
    }
    return lag.tooFarBehind(partition);
  }

  private @Nullable String notRestoredReason(int partition) {
    PartitionView view = views.served().get(partition);
    boolean answered = view == null ? replicas.isElsewhere(partition) : view.complete();
    return answered ? null : "partition " + partition + " is " + progress(partition).text();
  }

  /** What a partition is doing, and how far it is. */
  PartitionProgress progress(int partition) {
    PartitionView view = views.newest(partition);
    if (view == null) {
      return PartitionProgress.of(Phase.ABSENT);
    }
    RestoreWatch.Reading reading = restores.reading(partition);
    return switch (view.state()) {
      case CLOSED -> PartitionProgress.of(Phase.STALE);
      case LIVE ->
          // It may know less than what is served still.
          lag.keepsUp(partition) && views.served().get(partition) == view
              ? PartitionProgress.of(Phase.READY)
              : lag.progress(partition);
      case RESTORING, LOADING ->
          view instanceof TableView table && table.rowsToLoad() > 0 && !table.isLoaded()
              ? new PartitionProgress(Phase.LOADING, table.rowsLoaded(), table.rowsToLoad(), 0)
              : reading == null ? PartitionProgress.of(Phase.RESTORING) : reading.progress();
    };
  }
}
