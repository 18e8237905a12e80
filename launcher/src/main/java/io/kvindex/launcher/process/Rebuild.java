// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.rewind.Directories;
import io.kvindex.launcher.rewind.EventLog;
import io.kvindex.launcher.rewind.ReplayFrom;
import io.kvindex.launcher.rewind.ReplayGroup;
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
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;

/**
 * A table that is being built from the events topic beside the one that serves: an application of
 * its own with its own place in the log, directory and HTTP API, and without a changelog. What it
 * has in Kafka and on disk goes when it is closed.
 */
public final class Rebuild implements AutoCloseable {

  private static final Duration REGISTRATION_TIMEOUT = Duration.ofSeconds(10);

  private final Closing parts;
  private final ReplayPlan plan;
  private final IndexCopy indexer;
  private final ReplayProgress progress;
  private final QueryApi api;
  private final URI uri;

  /**
   * What is rebuilt and where.
   *
   * @param kafka settings of all Kafka clients, see {@link ClientKind}
   * @param application id in Kafka; not the one that serves
   * @param anew whether to delete what a former rebuild has left under that id
   * @param directory for its tables; deleted before and after
   * @param bind address of its HTTP API
   * @param port of its HTTP API, 0 = any free one
   */
  public record Options(
      Map<String, Object> kafka,
      ReplayFrom from,
      String application,
      boolean anew,
      Path directory,
      String bind,
      int port) {

    public Options {
      kafka = Map.copyOf(kafka);
    }
  }

  private Rebuild(Options options, Closing parts) throws IOException, InterruptedException {
    this.parts = parts;
    Admin admin = parts.add(Admin.create(ClientKind.ADMIN.settings(options.kafka(), Map.of())));
    EventLog log = new EventLog(admin);
    plan = ReplayPlan.of(log, options.from());
    SiteTopics topics = ClusterTopics.ofSite(options.kafka());
    ReplayGroup group = new ReplayGroup(admin, options.application());
    group.claim(options.anew());
    Directories.delete(options.directory());
    parts.add(() -> Directories.delete(options.directory()));
    parts.add(group::delete);
    group.startAt(plan.starts());
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    CopyConfig config =
        CopyConfig.of(options.kafka(), options.application(), options.directory())
            .startingAt(plan.starts());
    indexer = parts.add(IndexCopy.start(config, topics.eventPartitions(), List::of, metrics));
    progress = new ReplayProgress(plan, indexer, group, log, metrics);
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
   * @throws RuntimeException if the application is in use, or Kafka or the port is not to be had;
   *     nothing is left then
   */
  public static Rebuild start(Options options) throws IOException, InterruptedException {
    Closing parts = new Closing();
    try {
      return new Rebuild(options, parts);
    } catch (IOException | InterruptedException | RuntimeException e) {
      closeAll(parts);
      throw e;
    }
  }

  /** Which records it reads. */
  public ReplayPlan plan() {
    return plan;
  }

  /** How far it is. */
  public ReplayProgress progress() {
    return progress;
  }

  /**
   * Looks whether it goes on.
   *
   * @throws IllegalStateException if it was given up: nothing but another rebuild can help
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

  /** Also where an interrupt is what ends it: Kafka's answers are waited for. */
  private static void closeAll(Closing parts) {
    boolean interrupted = Thread.interrupted();
    parts.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
