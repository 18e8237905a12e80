// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.streams.checkpoint.CheckpointRefusedException.Reason;
import io.kvindex.streams.view.CheckpointOffer;
import org.apache.kafka.common.Uuid;

/**
 * The row that says what all others are of: written with them at once, so it is true of them.
 *
 * @param topicId the log's id in Kafka
 * @param partition of the log
 * @param number how many checkpoints it and those before it are, 1 at least
 * @param folded up to where
 * @param names how many rows of names there are
 * @param state {@link io.kvindex.streams.index.Journal#state}
 */
public record Header(
    Uuid topicId, int partition, long number, Folded folded, long names, byte[] state) {

  /** Of rows this version writes; 1 was the layout of Kafka Streams' stores. */
  static final int LAYOUT = 2;

  byte[] encode() {
    RecordWriter out = new RecordWriter(64 + state.length);
    out.writeVarint(LAYOUT);
    out.writeLong(topicId.getMostSignificantBits());
    out.writeLong(topicId.getLeastSignificantBits());
    out.writeVarint(partition);
    out.writeVarint(number);
    out.writeZigZag(folded.offset());
    out.writeLong(folded.sum());
    out.writeVarint(folded.lineageStart());
    out.writeVarint(names);
    out.writeBytes(state);
    return out.toByteArray();
  }

  static long layoutOf(byte[] row) {
    return new RecordReader(row).readVarint();
  }

  static Header decode(byte[] row) throws CheckpointRefusedException {
    try {
      RecordReader in = new RecordReader(row);
      long layout = in.readVarint();
      Former before = Conversion.former;
      if (before != null && layout == before.layout()) {
        return before.header(row);
      }
      if (layout != LAYOUT) {
        throw unknownLayout(layout);
      }
      return new Header(
          new Uuid(in.readLong(), in.readLong()),
          in.readInt(),
          in.readVarint(),
          new Folded(in.readZigZag(), in.readLong(), in.readVarint()),
          in.readVarint(),
          in.readRest());
    } catch (MalformedRecordException e) {
      throw new CheckpointRefusedException(
          Reason.MALFORMED_ROW, "its header: " + e.getMessage(), e);
    }
  }

  static CheckpointRefusedException unknownLayout(long layout) {
    return new CheckpointRefusedException(
        Reason.UNKNOWN_LAYOUT, "its rows have layout " + layout + ", known is " + LAYOUT);
  }

  /** What others are told of it. */
  public CheckpointOffer offer(long bytes, boolean busy) {
    return new CheckpointOffer(
        partition, LAYOUT, topicId.toString(), folded.offset(), folded.lineageStart(), bytes, busy);
  }

  /** Refuses what is of another log. */
  void requireOf(Uuid topic, int ofPartition) throws CheckpointRefusedException {
    requireOf(topicId.toString(), partition, topic, ofPartition);
  }

  static void requireOf(String ofTopic, int ofPartition, Uuid topic, int partition)
      throws CheckpointRefusedException {
    if (!ofTopic.equals(topic.toString())) {
      throw new CheckpointRefusedException(
          Reason.FOREIGN_TOPIC, "it is of topic id " + ofTopic + ", the log's is " + topic);
    }
    if (ofPartition != partition) {
      throw new CheckpointRefusedException(
          Reason.FOREIGN_PARTITION, "it is of partition " + ofPartition + ", not " + partition);
    }
  }
}
