// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

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
 */
public record Placement(int standbys, @Nullable String rack, @Nullable String name) {

  /** Longest value of a tag Kafka Streams takes. */
  public static final int MAX_RACK = 30;

  /**
   * Standbys of a site where every replica holds everything. More than there are replicas: Kafka
   * Streams gives each what there is and warns of the rest.
   */
  private static final int MORE_THAN_REPLICAS = 1_000;

  /** One standby, no rack, no name. */
  public static final Placement DEFAULT = new Placement(1, null, null);

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
  }

  /** The same where every replica holds everything and answers alone. */
  public Placement everywhere() {
    return new Placement(MORE_THAN_REPLICAS, rack, name);
  }
}
