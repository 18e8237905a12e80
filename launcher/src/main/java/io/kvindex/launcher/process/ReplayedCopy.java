// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.rewind.CopyGroup;
import io.kvindex.launcher.rewind.EventLog;
import io.kvindex.launcher.rewind.ReplayFrom;
import io.kvindex.launcher.rewind.ReplayPlan;
import io.kvindex.launcher.rewind.ReplayProgress;
import io.kvindex.model.Media;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.query.QueryApi;
import io.kvindex.query.Replica;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.lookup.StreamsIndexAccess;
import io.kvindex.streams.CopyConfig;
import io.kvindex.streams.IndexCopy;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;

/**
 * A copy of its own that is folded from some place in the log on, beside those that serve: a
 * directory, a group and an HTTP API. It stays when it is closed, and goes on from its checkpoints
 * when it is started again.
 */
public final class ReplayedCopy implements AutoCloseable {

  private static final Duration REGISTRATION_TIMEOUT = Duration.ofSeconds(10);

  /** Says in the copy's directory where it was begun; there once the name is its own. */
  private static final String FROM = "replayed-from";

  private final Closing parts;
  private final ReplayPlan plan;
  private final boolean kept;
  private final IndexCopy indexer;
  private final ReplayProgress progress;
  private final QueryApi api;
  private final URI uri;

  /**
   * What is folded and where.
   *
   * @param kafka settings of all Kafka clients, see {@link ClientKind}
   * @param copy its name, see {@link CopyConfig}
   * @param directory its own
   * @param bind address of its HTTP API
   * @param port of its HTTP API, 0 = any free one
   */
  public record Options(
      Map<String, Object> kafka,
      ReplayFrom from,
      String copy,
      Path directory,
      String bind,
      int port) {

    public Options {
      kafka = Map.copyOf(kafka);
    }
  }

  private ReplayedCopy(Options options, CopyConfig config, Closing parts)
      throws IOException, InterruptedException {
    this.parts = parts;
    Admin admin = parts.add(Admin.create(ClientKind.ADMIN.settings(options.kafka(), Map.of())));
    plan = ReplayPlan.of(new EventLog(admin), options.from());
    SiteTopics topics = ClusterTopics.ofSite(options.kafka());
    parts.add(TablesLock.take(options.directory()));
    kept = isKept(options);
    if (!kept) {
      new CopyGroup(admin, options.copy(), config.applicationId()).requireNone();
      CopyName.keep(options.directory(), options.copy());
      Files.writeString(options.directory().resolve(FROM), options.from().text() + "\n");
    }
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    indexer =
        parts.add(
            IndexCopy.start(
                config.startingAt(plan.starts()),
                topics.eventPartitions(),
                true,
                List::of,
                metrics));
    progress = new ReplayProgress(plan, indexer, metrics);
    api =
        parts.add(
            QueryApi.start(
                new QueryApi.Options(
                    HttpSettings.DEFAULT.at(options.bind(), options.port()),
                    options.kafka(),
                    REGISTRATION_TIMEOUT,
                    AllCommand.defaultProfile(System.getenv()),
                    Media.standard(),
                    topics.generations()),
                Replica.alone(
                    new StreamsIndexAccess(indexer, () -> StreamsIndexAccess.READ_ELSEWHERE)),
                metrics,
                new QuarantineReader()));
    uri = Address.http(options.bind(), api.port());
  }

  /**
   * Begins to read, in the background.
   *
   * @throws IllegalArgumentException if the copy can not be named so, or was begun elsewhere
   * @throws RuntimeException if the name or the directory is in use, or Kafka or the port is not to
   *     be had
   */
  public static ReplayedCopy start(Options options) throws IOException, InterruptedException {
    CopyConfig config = CopyConfig.of(options.kafka(), options.copy(), options.directory());
    Closing parts = new Closing();
    try {
      return new ReplayedCopy(options, config, parts);
    } catch (IOException | InterruptedException | RuntimeException e) {
      closeAll(parts);
      throw e;
    }
  }

  /** Whether the copy was there already. */
  private static boolean isKept(Options options) throws IOException {
    Path file = options.directory().resolve(FROM);
    if (!Files.exists(file)) {
      return false;
    }
    ReplayFrom former = ReplayFrom.parse(Files.readString(file).strip());
    if (!former.equals(options.from())) {
      throw new IllegalArgumentException(
          "copy "
              + options.copy()
              + " in "
              + options.directory()
              + " was begun with --from "
              + former.text()
              + ": say that again, and it goes on, or give another --copy");
    }
    return true;
  }

  /** Which records it reads, if it reads all. */
  public ReplayPlan plan() {
    return plan;
  }

  /** Whether it goes on from checkpoints of a former run. */
  public boolean isKept() {
    return kept;
  }

  /** How far it is. */
  public ReplayProgress progress() {
    return progress;
  }

  /**
   * Looks whether it goes on.
   *
   * @throws IllegalStateException if it was given up: only a person can help
   */
  void check() {
    String givenUp = indexer.givenUp();
    if (givenUp != null) {
      throw new IllegalStateException(givenUp);
    }
  }

  /** Where its HTTP API is. */
  public URI uri() {
    return uri;
  }

  /**
   * Waits until it answers queries.
   *
   * @throws IllegalStateException as {@link #check}
   */
  void awaitReady() throws InterruptedException {
    StartupGate.await(
        () -> {
          check();
          return api.whyNotServing();
        });
  }

  @Override
  public void close() {
    closeAll(parts);
  }

  /** Also where an interrupt is what ends it: the last checkpoints are waited for. */
  private static void closeAll(Closing parts) {
    boolean interrupted = Thread.interrupted();
    parts.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
