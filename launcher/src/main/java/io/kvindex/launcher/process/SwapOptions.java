// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.rewind.ReplayPlan;
import io.kvindex.streams.Placement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How a rebuild becomes the table that serves. */
final class SwapOptions {

  private static final int MAX_WAIT_MINUTES = 24 * 60;

  @Option(
      names = "--swap",
      description =
          "Make the rebuild the table that serves, once it has caught up: the replicas take it over one by"
              + " one, without a gap in answers. Ends when they have, and the former table is deleted.")
  private boolean swap;

  @Option(
      names = "--swap-wait",
      paramLabel = "MINUTES",
      description =
          "With --swap: how long the replicas may take for that (default: ${DEFAULT-VALUE}).",
      defaultValue = "60")
  private int waitMinutes;

  @Option(
      names = "--although-cut",
      description =
          "With --swap: also where the log does not reach back to its beginning, or is not to be read from"
              + " there. What is held since then and was not announced again is missing from all answers.")
  private boolean althoughCut;

  @Option(
      names = "--advertise",
      paramLabel = "HOST:PORT",
      description =
          "With --swap: address the replicas reach the rebuild at (default: bind address and port).")
  private @Nullable String advertise;

  @Option(
      names = "--standbys",
      paramLabel = "N",
      description =
          "With --swap: copies of each partition, as the replicas say (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_STANDBYS:-1}")
  private int standbys = 1;

  @Option(
      names = "--full-replicas",
      description = "With --swap: every replica holds everything, as the replicas say.",
      // Else a flag means the opposite of its default.
      fallbackValue = "true",
      defaultValue = "${env:KVINDEX_FULL_REPLICAS:-false}")
  private boolean fullReplicas;

  @Option(
      names = "--rack",
      paramLabel = "NAME",
      description =
          "With --swap: rack or zone of the rebuild, where the replicas have one: it decides where their"
              + " copies go.",
      defaultValue = "${env:KVINDEX_RACK:-}")
  private String rack = "";

  /** Whether it shall serve. */
  boolean swap() {
    return swap;
  }

  /** Whether a table made so may serve: one that lacks something only where that was asked for. */
  boolean mayServe(ReplayPlan plan) {
    return plan.isWhole() || althoughCut;
  }

  /**
   * The same once it is made.
   *
   * @param deleted records that retention took while they were read
   */
  boolean mayServe(long deleted) {
    return deleted == 0 || althoughCut;
  }

  /**
   * How long replicas may take.
   *
   * @throws IllegalArgumentException if it can not be used
   */
  Duration patience() {
    if (waitMinutes < 1 || waitMinutes > MAX_WAIT_MINUTES) {
      throw new IllegalArgumentException(
          "--swap-wait must be 1 to " + MAX_WAIT_MINUTES + " minutes, got " + waitMinutes);
    }
    return Duration.ofMinutes(waitMinutes);
  }

  /**
   * What makes it one of the replicas, null = it does not become one.
   *
   * @param port of the HTTP API, never 0 where it does
   */
  Rebuild.@Nullable Membership membership(String bind, int port) {
    if (!swap) {
      return null;
    }
    Placement placement = new Placement(standbys, rack.isBlank() ? null : rack.strip(), null);
    return new Rebuild.Membership(
        ReplicaAddress.of(advertise, bind, port),
        fullReplicas ? placement.everywhere() : placement);
  }
}
