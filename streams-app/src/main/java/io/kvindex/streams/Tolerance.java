// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.time.Duration;

/**
 * What an indexer puts up with.
 *
 * @param maxLag how long a record may wait in the log before answers are called stale, and how long
 *     Kafka may be silent
 * @param withoutKafka how long Kafka may be away without the tables being built anew after its
 *     return. Answers are given for as long as it lasts, this bound or not
 */
public record Tolerance(Duration maxLag, Duration withoutKafka) {

  /** Two seconds behind, ten minutes without Kafka. */
  public static final Tolerance DEFAULT =
      new Tolerance(Duration.ofSeconds(2), Duration.ofMinutes(10));

  public Tolerance {
    if (maxLag.toMillis() < 1) {
      throw new IllegalArgumentException("the lag allowed must be positive: " + maxLag);
    }
    if (withoutKafka.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new IllegalArgumentException("at least a second without Kafka: " + withoutKafka);
    }
  }
}
