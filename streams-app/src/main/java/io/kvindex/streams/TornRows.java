// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/**
 * Which partitions have rows on the disk that are in no changelog. All tasks of a stream thread
 * share one transaction. Kafka Streams 4.3.1 aborts it where it throws away the rows of one task,
 * and commits for the others just before; but not while a rebalance runs ({@code
 * TaskManager.handleCorruption}, {@code commitTasksAndMaybeUpdateCommittableOffsets}), and then the
 * others go on as if nothing had happened: their place in the log would be committed with their
 * next transaction, and what they wrote in this one would be missing in every copy. For one thread.
 */
final class TornRows {

  private final Set<Integer> written = new HashSet<>();
  private final Set<Integer> torn = new HashSet<>();

  /** A row was written in the transaction that is open. */
  void wrote(int partition) {
    written.add(partition);
  }

  /** The transaction was committed. */
  void committed() {
    written.clear();
  }

  /** The transaction was aborted: whoever goes on after it has rows that are in no changelog. */
  void aborted() {
    torn.addAll(written);
    written.clear();
  }

  /** A task begins, with the rows of the changelog. */
  void begins(int partition) {
    torn.remove(partition);
  }

  /** Whether the place in the log of one of these partitions is ahead of its changelog. */
  boolean any(Collection<TopicPartition> partitions) {
    return partitions.stream().map(TopicPartition::partition).anyMatch(torn::contains);
  }
}
