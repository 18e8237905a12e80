// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.streams.IndexerConfig;
import io.kvindex.streams.Placement;
import io.kvindex.streams.Tolerance;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What makes an indexer one of several: its copies, its place, its name, how it goes. */
final class ReplicaOptions {

  private static final int MAX_DRAIN_SECONDS = 3_600;
  private static final int MAX_COPY_DELAY_SECONDS = 86_400;

  @Option(
      names = "--advertise",
      paramLabel = "HOST:PORT",
      description =
          "Address other replicas reach this one at; without :PORT the HTTP port (default: bind address and port).",
      defaultValue = "${env:KVINDEX_ADVERTISE:-}")
  private String advertise = "";

  @Option(
      names = "--standbys",
      paramLabel = "N",
      description =
          "Copies of each partition on other replicas; the same on all (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_STANDBYS:-1}")
  private int standbys = 1;

  @Option(
      names = "--full-replicas",
      description =
          "Every replica holds everything and answers from its own memory, however many there are.",
      // Else a flag means the opposite of its default.
      fallbackValue = "true",
      defaultValue = "${env:KVINDEX_FULL_REPLICAS:-false}")
  private boolean fullReplicas;

  @Option(
      names = "--copy-delay",
      paramLabel = "SECONDS",
      description =
          "How long a replica that left is waited for before others make copies in place of its;"
              + " the same on all (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_COPY_DELAY:-30}")
  private int copyDelaySeconds = 30;

  @Option(
      names = "--rack",
      paramLabel = "NAME",
      description =
          "Rack or zone of this replica: copies of a partition go to different ones, records are"
              + " read from a broker of the same one if Kafka allows it.",
      defaultValue = "${env:KVINDEX_RACK:-}")
  private String rack = "";

  @Option(
      names = "--instance-name",
      paramLabel = "NAME",
      description =
          "Name of this replica that no other has: restarted within 6 s it goes on with its"
              + " partitions, and the others are not stirred.",
      defaultValue = "${env:KVINDEX_INSTANCE_NAME:-}")
  private String instanceName = "";

  @Option(
      names = "--max-lag",
      paramLabel = "MS",
      description =
          "Answers are stale once a record has waited longer in the log, or Kafka has been silent for"
              + " longer (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_MAX_LAG:-2000}")
  private long maxLagMs = Tolerance.DEFAULT.maxLag().toMillis();

  @Option(
      names = "--drain",
      paramLabel = "SECONDS",
      description =
          "How long a replica that is being stopped goes on answering while /ready says no"
              + " (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_DRAIN:-3}")
  private int drainSeconds = 3;

  /**
   * Adds what the flags say.
   *
   * @param bind address of the HTTP API
   * @param port its port, never 0
   * @throws IllegalArgumentException if they can not be used
   */
  IndexerConfig applyTo(IndexerConfig base, String bind, int port) {
    Placement placement = new Placement(standbys, orNull(rack), orNull(instanceName), copyDelay());
    return base.advertisedAs(ReplicaAddress.of(orNull(advertise), bind, port))
        .placed(fullReplicas ? placement.everywhere() : placement)
        .tolerating(new Tolerance(Duration.ofMillis(maxLagMs), Tolerance.DEFAULT.withoutKafka()));
  }

  private Duration copyDelay() {
    return seconds("--copy-delay", copyDelaySeconds, MAX_COPY_DELAY_SECONDS);
  }

  /**
   * Time between being told to stop and leaving.
   *
   * @throws IllegalArgumentException if it can not be used
   */
  Duration drain() {
    return seconds("--drain", drainSeconds, MAX_DRAIN_SECONDS);
  }

  private static Duration seconds(String flag, int value, int most) {
    if (value < 0 || value > most) {
      throw new IllegalArgumentException(flag + " must be 0 to " + most + " seconds, got " + value);
    }
    return Duration.ofSeconds(value);
  }

  private static @Nullable String orNull(String text) {
    return text.isBlank() ? null : text.strip();
  }
}
