// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Set;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.jspecify.annotations.Nullable;

/**
 * Whether a replica has left the group so lately that it may soon be back, with all its rows. It
 * keeps its identity in its state directory, so one that comes back is known again. What it knows
 * it has seen as the group's leader; one that has just become it takes partitions without an owner
 * for those of somebody who left.
 *
 * <p>One for each application of a process. Thread-safe.
 */
final class Absence {

  /** Name of the setting that takes it through Kafka Streams to {@link StayingAssignor}. */
  static final String SETTING = "kvindex.absence";

  private final Duration patience;
  private final InstantSource clock;
  private Set<ProcessId> last = Set.of();
  private @Nullable Instant until;

  /**
   * @param patience how long who left is waited for, 0 = not at all
   */
  Absence(Duration patience, InstantSource clock) {
    this.patience = patience;
    this.clock = clock;
  }

  /**
   * Takes note of who is in the group now.
   *
   * @param orphans whether there are partitions without an owner where others have one
   * @return until when who left is waited for, null = nobody is
   */
  synchronized @Nullable Instant see(Set<ProcessId> present, boolean orphans) {
    boolean left = last.isEmpty() ? orphans : !present.containsAll(last);
    boolean joined = !last.isEmpty() && !last.containsAll(present);
    last = Set.copyOf(present);
    Instant now = clock.instant();
    if (joined) {
      until = null; // it has come back, or another one in its place
    } else if (left) {
      until = now.plus(patience);
    }
    return until != null && until.isAfter(now) ? until : null;
  }
}
