// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How many copies of the tables there are, where they go, and what this replica is called.
 *
 * @param standbys copies of each partition on other replicas, beside the active one. All replicas
 *     of a site should say the same: the one that leads the group decides
 * @param rack failure domain of this replica, at most {@value #MAX_RACK} characters: copies of a
 *     partition go to different ones as far as there are some, and records are fetched from a
 *     broker of the same one where the cluster allows it; null = none
 * @param name stable name in the group, null = none. One that comes back under its name within the
 *     session timeout (6 s) gets its partitions again without the others being stirred
 * @param copyDelay how long a replica that left is waited for before others make copies in place of
 *     its; 0 = not at all. Its own partitions are taken over at once where there is a copy
 */
public record Placement(
    int standbys, @Nullable String rack, @Nullable String name, Duration copyDelay) {

  /** Longest value of a tag Kafka Streams takes. */
  public static final int MAX_RACK = 30;

  /** Standbys of a site where every replica holds everything: more than there are replicas. */
  private static final int MORE_THAN_REPLICAS = 1_000;

  /** A process that is started again is back by then. */
  private static final Duration COPY_DELAY = Duration.ofSeconds(30);

  /** One standby, no rack, no name. */
  public static final Placement DEFAULT = new Placement(1, null, null);

  /** The same with the usual delay. */
  public Placement(int standbys, @Nullable String rack, @Nullable String name) {
    this(standbys, rack, name, COPY_DELAY);
  }

  public Placement {
    if (standbys < 0) {
      throw new IllegalArgumentException("the number of standbys must be 0 or more: " + standbys);
    }
    if (rack != null && (rack.isBlank() || rack.length() > MAX_RACK)) {
      throw new IllegalArgumentException(
          "a rack has 1 to " + MAX_RACK + " characters, got `" + rack + "`");
    }
    if (name != null && name.isBlank()) {
      throw new IllegalArgumentException("the name of a replica must not be blank");
    }
    if (copyDelay.isNegative()) {
      throw new IllegalArgumentException("the delay of copies must be 0 or more: " + copyDelay);
    }
  }

  /** The same where every replica holds everything and answers alone. */
  public Placement everywhere() {
    return new Placement(MORE_THAN_REPLICAS, rack, name, copyDelay);
  }

  /** The same with another name. */
  public Placement named(String other) {
    return new Placement(standbys, rack, other, copyDelay);
  }

  /** The same with another number of copies. */
  public Placement copied(int times) {
    return new Placement(times, rack, name, copyDelay);
  }

  /** The same with another delay. */
  public Placement delaying(Duration copies) {
    return new Placement(standbys, rack, name, copies);
  }
}
