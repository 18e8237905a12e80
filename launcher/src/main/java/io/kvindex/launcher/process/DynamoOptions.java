// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.ConductorConfig.Entry;
import io.kvindex.query.access.AccessLog.AccessLogSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;

/**
 * The flags of Dynamo's standalone indexer, so that its command line works here, but for {@code
 * --port} and {@code --peers}, which stand elsewhere.
 */
final class DynamoOptions {
  /** Environment variable with the number of workers {@code /ready} waits for. */
  static final String MIN_INITIAL_WORKERS = "DYN_ROUTER_MIN_INITIAL_WORKERS";

  private static final Logger LOG = LoggerFactory.getLogger(DynamoOptions.class);
  private static final ObjectMapper JSON = new ObjectMapper();

  @Option(
      names = "--workers",
      paramLabel = "ID[:RANK]=ADDRESS",
      split = ",",
      description =
          "Engines to register at start, separated by commas; rank 0 unless named. Needs --block-size.")
  private List<String> workers = List.of();

  @Option(
      names = "--block-size",
      paramLabel = "TOKENS",
      description = "Block size of the engines of --workers.")
  private @Nullable Integer blockSize;

  @Option(
      names = "--model-name",
      paramLabel = "MODEL",
      description = "Model of the engines of --workers (default: ${DEFAULT-VALUE}).",
      defaultValue = "default")
  private String modelName = "default";

  @Option(
      names = {"--routing-group", "--tenant-id"},
      paramLabel = "NAME",
      description = "Tenant of the engines of --workers (default: ${DEFAULT-VALUE}).",
      defaultValue = "default")
  private String routingGroup = "default";

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Has no effect: taken because Dynamo's indexer has it.")
  private @Nullable Integer threads;

  @Option(
      names = "--access-log",
      paramLabel = "FILE",
      description = "Appends a JSON object for each request to this file.")
  private @Nullable Path accessLog;

  @Option(
      names = "--trace-id-header",
      paramLabel = "NAME",
      description =
          "Header whose value the access log has as trace_id (default: ${DEFAULT-VALUE}).",
      defaultValue = AccessLogSettings.DEFAULT_TRACE_HEADER)
  private String traceIdHeader = AccessLogSettings.DEFAULT_TRACE_HEADER;

  @Option(
      names = "--access-log-local-time",
      description = "Times of the access log are in the machine's zone instead of UTC.")
  private boolean localTime;

  /**
   * Checks the flags and the environment and says what they do not do.
   *
   * @throws IllegalArgumentException if they can not be used
   */
  void check() {
    if (threads != null) {
      LOG.info("--threads has no effect: the index has one writer a partition and any readers");
    }
    registrations();
    minInitialWorkers(System.getenv());
  }

  /** Where requests are logged, null = nowhere. */
  @Nullable AccessLogSettings accessLog() {
    return accessLog == null ? null : new AccessLogSettings(accessLog, traceIdHeader, localTime);
  }

  /** Instances {@code /ready} waits for, 0 = none. */
  static int minInitialWorkers(Map<String, String> environment) {
    String text = environment.getOrDefault(MIN_INITIAL_WORKERS, "").strip();
    if (text.isEmpty()) {
      return 0;
    }
    try {
      int workers = Integer.parseInt(text);
      if (workers >= 0) {
        return workers;
      }
      throw noNumberOfWorkers(text, null);
    } catch (NumberFormatException e) {
      throw noNumberOfWorkers(text, e);
    }
  }

  private static IllegalArgumentException noNumberOfWorkers(
      String text, @Nullable Exception cause) {
    return new IllegalArgumentException(
        MIN_INITIAL_WORKERS + " must be a number of workers, got " + text, cause);
  }

  /** Bodies of {@code /register} for the engines of {@code --workers}. */
  List<Entry> registrations() {
    if (!workers.isEmpty() && blockSize == null) {
      throw new IllegalArgumentException("--workers needs --block-size");
    }
    List<Entry> entries = new ArrayList<>();
    for (String worker : workers) {
      int equals = worker.indexOf('=');
      int colon = worker.lastIndexOf(':', Math.max(0, equals));
      if (equals < 1 || colon == 0) {
        throw new IllegalArgumentException(
            "--workers has `" + worker + "`, which is not ID[:RANK]=ADDRESS");
      }
      String id = worker.substring(0, colon < 0 ? equals : colon).strip();
      ObjectNode body =
          JSON.createObjectNode()
              .put("instance_id", id)
              .put("endpoint", worker.substring(equals + 1).strip())
              .put("model_name", modelName)
              .put("tenant_id", routingGroup)
              .put("block_size", blockSize)
              .put("dp_rank", rank(worker, colon < 0 ? "0" : worker.substring(colon + 1, equals)))
              .put("replace", true);
      entries.add(new Entry(worker, body));
    }
    return entries;
  }

  private static int rank(String worker, String text) {
    try {
      return Integer.parseInt(text.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("--workers has `" + worker + "`: no rank " + text, e);
    }
  }
}
