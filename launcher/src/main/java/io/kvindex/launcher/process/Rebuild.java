// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.rewind.EventLog;
import io.kvindex.launcher.rewind.ReplayFrom;
import io.kvindex.launcher.rewind.ReplayGroup;
import io.kvindex.launcher.rewind.ReplayPlan;
import io.kvindex.launcher.rewind.ReplayProgress;
import io.kvindex.model.Media;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.site.Serving;
import io.kvindex.query.QueryApi;
import io.kvindex.query.Replica;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.lookup.StreamsIndexAccess;
import io.kvindex.query.remote.ReplicaService;
import io.kvindex.query.remote.ServedTable;
import io.kvindex.query.remote.ServingIndex;
import io.kvindex.streams.IndexerApp;
import io.kvindex.streams.IndexerConfig;
import io.kvindex.streams.Placement;
import io.kvindex.streams.store.RowFiles;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;

/**
 * A table that is being built from the events topic beside the one that serves: an application of
 * its own with its own place in the log, directory and HTTP API, and a changelog only if replicas
 * are to take it over. What it has in Kafka and on disk goes when it is closed, unless they have.
 */
public final class Rebuild implements AutoCloseable {

  private static final Duration REGISTRATION_TIMEOUT = Duration.ofSeconds(10);

  private final Closing parts;
  private final ReplayPlan plan;
  private final IndexerApp indexer;
  private final ReplayProgress progress;
  private final QueryApi api;
  private final URI uri;
  private final int replicasBefore;
  private final @Nullable ServedTable table;
  private volatile boolean kept;

  /**
   * What is rebuilt and where.
   *
   * @param kafka settings of all Kafka clients, see {@link ClientKind}
   * @param application id in Kafka; not the one that serves
   * @param anew whether to delete what a former rebuild has left under that id
   * @param directory for its tables; deleted before and after
   * @param bind address of its HTTP API
   * @param port of its HTTP API, 0 = any free one
   * @param membership what makes it a replica of its table, null = it is nobody else's
   */
  public record Options(
      Map<String, Object> kafka,
      ReplayFrom from,
      String application,
      boolean anew,
      Path directory,
      String bind,
      int port,
      @Nullable Membership membership) {

    public Options {
      kafka = Map.copyOf(kafka);
    }
  }

  /**
   * What lets the site's replicas take a rebuild over.
   *
   * @param advertise {@code host:port} they reach it at
   * @param placement as on the replicas
   */
  public record Membership(String advertise, Placement placement) {

    /**
     * The one that leads the group decides on the number of copies, and for now that is the
     * rebuild: the replicas shall have all theirs before it leaves.
     */
    private IndexerConfig applyTo(IndexerConfig config) {
      return config
          .advertisedAs(advertise)
          .placed(placement.copied(placement.standbys() + 1).named(null));
    }
  }

  private Rebuild(Options options, Closing parts) throws IOException, InterruptedException {
    this.parts = parts;
    Admin admin = parts.add(Admin.create(ClientKind.ADMIN.settings(options.kafka(), Map.of())));
    EventLog log = new EventLog(admin);
    plan = ReplayPlan.of(log, options.from());
    SiteTopics topics = ClusterTopics.ofSite(options.kafka());
    Serving serving = topics.serving();
    if (options.application().equals(serving.application())) {
      throw new IllegalArgumentException(
          "--app "
              + options.application()
              + " is the application that serves: a rebuild needs another one");
    }
    replicasBefore = new ReplayGroup(admin, serving.application()).processes();
    ReplayGroup group = new ReplayGroup(admin, options.application());
    group.claim(options.anew());
    RowFiles.delete(options.directory());
    parts.add(() -> RowFiles.delete(options.directory()));
    parts.add(
        () -> {
          if (!kept) {
            group.delete();
          }
        });
    group.startAt(plan.starts());
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Membership membership = options.membership();
    IndexerConfig own =
        IndexerConfig.on(options.kafka(), options.directory()).as(options.application());
    IndexerConfig config =
        membership == null
            // It is deleted with the process and built anew: nobody would ever read a changelog.
            ? own.alone(options.application()).withoutChangelog()
            : membership.applyTo(own);
    indexer = parts.add(IndexerApp.start(config, topics.eventPartitions(), metrics));
    table = membership == null ? null : parts.add(table(config, indexer, metrics));
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
                replica(indexer, table),
                metrics,
                new QuarantineReader()));
    // First of all: others take one for dead that is a member and does not listen.
    parts.add(indexer::close);
    uri = Address.http(options.bind(), api.port());
  }

  private static Replica replica(IndexerApp indexer, @Nullable ServedTable member) {
    return member == null
        ? Replica.alone(new StreamsIndexAccess(indexer, () -> StreamsIndexAccess.READ_ELSEWHERE))
        : new Replica(
            member.index(), new ReplicaService(new ServingIndex(member)), member.cluster());
  }

  private static ServedTable table(
      IndexerConfig config, IndexerApp indexer, PrometheusMeterRegistry metrics) {
    return new ServedTable(
        config.applicationId(),
        new StreamsIndexAccess(indexer, () -> StreamsIndexAccess.READ_ELSEWHERE),
        new LeavingTable(indexer),
        new KeptTable(indexer, new TableMeters(metrics)),
        metrics);
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

  /** Processes that kept the table that served when it began. */
  int replicasBefore() {
    return replicasBefore;
  }

  /** It as one of the replicas has it; only with a membership. */
  ServedTable table() {
    return Objects.requireNonNull(table, "a rebuild that is nobody else's table");
  }

  /** What it has in Kafka stays from now on. */
  void keep() {
    kept = true;
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
