// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.bridge.follow.Following;
import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.model.progress.BridgeProgress;
import java.util.Collection;

/** Writes the progress of followed publishers where it changed; one write each at a time. */
final class ProgressWriter {

  private final ControlRecords records;
  private final BridgeMetrics metrics;

  ProgressWriter(ControlRecords records, BridgeMetrics metrics) {
    this.records = records;
    this.metrics = metrics;
  }

  /** Starts the writes that are due; returns at once. */
  void write(Collection<Followed> all) {
    all.forEach(this::write);
  }

  /** Starts the write if it is due. */
  void write(Followed followed) {
    Following following = followed.following;
    if (following == null || followed.writing || followed.gone) {
      return;
    }
    following.report(progress -> write(followed, progress));
  }

  private void write(Followed followed, BridgeProgress progress) {
    if (followed.isWritten(progress)) {
      return;
    }
    followed.writing = true;
    int foreign = followed.foreign();
    records.write(
        followed.partition,
        progress.publisher(),
        progress,
        (metadata, problem) -> {
          if (problem != null) {
            metrics.produceError(problem);
          } else {
            followed.written(progress, foreign);
          }
          followed.writing = false;
        });
  }

  /** Whether Kafka has the newest progress of all of them. */
  boolean isWritten(Collection<Followed> all) {
    return all.stream()
        .allMatch(
            followed -> {
              Following following = followed.following;
              return following == null
                  || following.isClaiming()
                  || followed.isWritten(following.progress());
            });
  }
}
