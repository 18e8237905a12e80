// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.checkpoint.CheckpointRefusedException.Reason;
import io.kvindex.streams.view.CheckpointOffer;
import org.apache.kafka.common.Uuid;

/**
 * What a checkpoint must be for a table to go on from it.
 *
 * @param topicId the log's id in Kafka
 * @param before offset the log is known to differ from others' tables at, {@link Long#MAX_VALUE} =
 *     none: what was folded up to there is not of this log
 * @param logStart offset of the first record the log still has; for a backup, of the first one it
 *     was told that the lender has
 */
public record Wanted(int partition, Uuid topicId, long before, long logStart) {

  /**
   * Refuses what does not do.
   *
   * @throws CheckpointRefusedException saying why
   */
  void require(CheckpointOffer offer) throws CheckpointRefusedException {
    if (!Conversion.isKnown(offer.layout())) {
      throw Header.unknownLayout(offer.layout());
    }
    Header.requireOf(offer.topicId(), offer.partition(), topicId, partition);
    if (offer.offset() >= before) {
      throw new CheckpointRefusedException(
          Reason.BEYOND_LOG,
          "it has record " + offer.offset() + ", and the log is another from " + before + " on");
    }
    if (offer.offset() + 1 < logStart) {
      throw new CheckpointRefusedException(
          Reason.TOO_OLD,
          "it ends with record " + offer.offset() + ", and the log begins with " + logStart);
    }
    if (offer.since() > logStart) {
      throw new CheckpointRefusedException(
          Reason.PARTIAL,
          "it has no records before "
              + offer.since()
              + ", and those from "
              + logStart
              + " on are wanted");
    }
  }
}
