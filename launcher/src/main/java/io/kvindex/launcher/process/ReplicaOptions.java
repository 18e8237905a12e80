// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.streams.CopyConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What makes an indexer one of several: its copy, its address, how it goes. */
final class ReplicaOptions {

  private static final int MAX_DRAIN_SECONDS = 3_600;
  private static final long MAX_LAG_MS = 2_000;

  @Option(
      names = "--advertise",
      paramLabel = "HOST:PORT",
      description =
          "Address other replicas reach this one at; without :PORT the HTTP port (default: bind address and port).",
      defaultValue = "${env:KVINDEX_ADVERTISE:-}")
  private String advertise = "";

  @Option(
      names = "--copy",
      paramLabel = "NAME",
      description =
          "Name of the copy of the tables that this process keeps; processes of one name share its partitions"
              + " (default: a name of its own, kept in the data directory).",
      defaultValue = "${env:KVINDEX_COPY:-}")
  private String copy = "";

  @Option(
      names = "--borrow-from",
      paramLabel = "URL|DIR",
      description =
          "Where a start without tables of its own takes them from: http://HOST:PORT of another replica, or"
              + " the directory of a backup (default: any other replica).",
      defaultValue = "${env:KVINDEX_BORROW_FROM:-}")
  private String borrowFrom = "";

  @Option(
      names = "--max-lag",
      paramLabel = "MS",
      description =
          "Answers are stale once a record has waited longer in the log, or Kafka has been silent for"
              + " longer (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_MAX_LAG:-2000}")
  private long maxLagMs = MAX_LAG_MS;

  @Option(
      names = "--drain",
      paramLabel = "SECONDS",
      description =
          "How long a replica that is being stopped goes on answering while /ready says no"
              + " (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_DRAIN:-3}")
  private int drainSeconds = 3;

  /**
   * What the flags say.
   *
   * @param kafka settings of all Kafka clients
   * @param dataDir this process's own
   * @param bind address of the HTTP API
   * @param port its port, never 0
   * @throws IllegalArgumentException if they can not be used
   * @throws IOException if the data directory can not be used
   */
  CopyConfig applyTo(Map<String, Object> kafka, Path dataDir, String bind, int port)
      throws IOException {
    String place = orNull(borrowFrom);
    String lender = place == null ? null : Lenders.of("--borrow-from", place);
    String address = ReplicaAddress.of(orNull(advertise), bind, port);
    // Last, as it writes: a flag that is wrong leaves nothing behind.
    String name = copy.isBlank() ? CopyName.of(dataDir) : copy.strip();
    return CopyConfig.of(kafka, name, dataDir)
        .advertisedAs(address)
        .borrowingFrom(lender)
        .lagging(Duration.ofMillis(maxLagMs));
  }

  /**
   * Time between being told to stop and leaving.
   *
   * @throws IllegalArgumentException if it can not be used
   */
  Duration drain() {
    if (drainSeconds < 0 || drainSeconds > MAX_DRAIN_SECONDS) {
      throw new IllegalArgumentException(
          "--drain must be 0 to " + MAX_DRAIN_SECONDS + " seconds, got " + drainSeconds);
    }
    return Duration.ofSeconds(drainSeconds);
  }

  private static @Nullable String orNull(String text) {
    return text.isBlank() ? null : text.strip();
  }
}
