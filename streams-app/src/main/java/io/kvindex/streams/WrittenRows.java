// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * How far a thread has written its changelogs. For that thread; Kafka's answers come from another
 * one.
 */
final class WrittenRows {

  private final Map<Integer, End> ends = new HashMap<>();

  /** The end of a changelog, as far as Kafka has answered. */
  static final class End {

    private static final long NONE = -1;

    private final TopicPartition changelog;
    private volatile long offset = NONE;

    private End(TopicPartition changelog) {
      this.changelog = changelog;
    }

    /** Kafka has taken a row; called in the order of offsets. */
    void taken(long at) {
      offset = at;
    }
  }

  /** Where a row goes. */
  End of(ProducerRecord<byte[], byte[]> row) {
    End end = ends.get(row.partition());
    if (end == null) {
      end = new End(new TopicPartition(row.topic(), row.partition()));
      ends.put(row.partition(), end);
    }
    return end;
  }

  /** A task begins: what was written to its changelog before was another one's. */
  void begins(int partition) {
    ends.remove(partition);
  }

  /** What was written last is in no changelog. */
  void aborted() {
    ends.clear();
  }

  /**
   * To be called when all that was written is committed.
   *
   * @return offset of the last row of each changelog written to
   */
  Map<TopicPartition, Long> committed() {
    Map<TopicPartition, Long> last = new HashMap<>();
    ends.values().stream()
        .filter(end -> end.offset != End.NONE)
        .forEach(end -> last.put(end.changelog, end.offset));
    return last;
  }
}
