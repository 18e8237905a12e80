// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import io.javalin.config.RoutesConfig;
import io.kvindex.model.Media;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Generations;
import io.kvindex.query.access.AccessLog;
import io.kvindex.query.access.AccessLog.AccessLogSettings;
import io.kvindex.query.contract.ContractRoutes;
import io.kvindex.query.digest.DigestRoutes;
import io.kvindex.query.dynamo.DynamoMeters;
import io.kvindex.query.explain.Explainer;
import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.lend.CheckpointRoutes;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.overview.OverviewRoutes;
import io.kvindex.query.peer.PeerRoutes;
import io.kvindex.query.peer.Peers;
import io.kvindex.query.quarantine.FrameReader;
import io.kvindex.query.quarantine.QuarantineRoutes;
import io.kvindex.query.registration.RegistrationRoutes;
import io.kvindex.query.registration.RegistrationService;
import io.kvindex.query.registration.RegistrationTable;
import io.kvindex.query.status.ProgressTable;
import io.kvindex.query.status.PublisherReport;
import io.kvindex.query.status.StatusRoutes;
import io.kvindex.query.status.VisibleEvents;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/**
 * The whole HTTP API of one replica: the registrations it sees, the routes, the server. Needs its
 * topics to exist. Start once, close once.
 */
public final class QueryApi implements AutoCloseable {
  private final @Nullable AccessLog log;
  private final ProgressTable progress;
  private final RegistrationTable registrations;
  private final RegistrationService service;
  private final Peers peers;
  private final StatusRoutes status;
  private final HttpServer server;
  private final Runnable unregister;

  /**
   * What a replica's API is made of.
   *
   * @param http where to listen and within which bounds
   * @param kafka Kafka client settings, at least {@code bootstrap.servers}
   * @param registrationTimeout longest a registration may take to be durable and visible
   * @param defaultProfile hash profile of registrations that name none
   * @param media what media count as
   * @param generations of the site's epoch
   * @param accessLog null = none
   * @param minInitialWorkers instances that must be registered before {@code /ready} says yes
   */
  public record Options(
      HttpSettings http,
      Map<String, Object> kafka,
      Duration registrationTimeout,
      HashProfile defaultProfile,
      Media media,
      Generations generations,
      @Nullable AccessLogSettings accessLog,
      int minInitialWorkers) {
    public Options {
      kafka = Map.copyOf(kafka);
    }

    /** Without an access log, and ready whoever is registered. */
    public Options(
        HttpSettings http,
        Map<String, Object> kafka,
        Duration registrationTimeout,
        HashProfile defaultProfile,
        Media media,
        Generations generations) {
      this(http, kafka, registrationTimeout, defaultProfile, media, generations, null, 0);
    }

    /** Everything at its default but the address and Kafka. */
    public static Options of(HttpSettings http, String bootstrapServers) {
      return new Options(
          http,
          Map.of("bootstrap.servers", bootstrapServers),
          Duration.ofSeconds(10),
          HashProfile.XXH3_DEFAULT,
          Media.standard(),
          Generations.FIRST);
    }
  }

  /**
   * Starts serving.
   *
   * @param metrics where meters go and {@code /metrics} reads; stays the caller's
   * @throws io.javalin.util.JavalinException if the address is not free
   */
  public static QueryApi start(
      Options options, IndexAccess index, PrometheusMeterRegistry metrics) {
    return start(options, Replica.alone(index), metrics, FrameReader.NONE);
  }

  /**
   * The same for one of several replicas.
   *
   * @param reader decoders to try on quarantined frames
   */
  public static QueryApi start(
      Options options, Replica replica, PrometheusMeterRegistry metrics, FrameReader reader) {
    return new QueryApi(options, replica, metrics, reader);
  }

  private QueryApi(
      Options options, Replica replica, PrometheusMeterRegistry metrics, FrameReader reader) {
    IndexAccess index = replica.index();
    log = accessLog(options, metrics);
    progress = new ProgressTable(options.kafka(), metrics);
    registrations =
        new RegistrationTable(
            options.kafka(),
            options.media(),
            options.generations(),
            progress::unconnected,
            progress::caughtUp,
            metrics);
    service =
        new RegistrationService(registrations, options.kafka(), options.registrationTimeout());
    peers = new Peers(registrations::snapshot, index, options.kafka(), metrics);
    status = new StatusRoutes(registrations, progress, index, metrics, options.minInitialWorkers());
    VisibleEvents events = new VisibleEvents(registrations::whole, progress::get, index);
    Explainer explainer =
        new Explainer(
            registrations::whole,
            index,
            () -> PublisherReport.all(registrations.whole(), progress::get, index),
            events,
            options.media());
    DynamoMeters meters = new DynamoMeters(metrics);
    try {
      server =
          HttpServer.start(
              options.http(),
              new DialectAnswers(registrations::whole, index, explainer),
              events,
              replica.questions(),
              routes -> addControl(options, replica, reader, routes),
              log == null ? meters : meters.and(log),
              metrics);
    } catch (RuntimeException e) {
      closeParts();
      throw e;
    }
    Set<String> served = new HashSet<>(server.routes().keySet());
    served.addAll(replica.questions().byPath().keySet());
    meters.serve(served);
    PrometheusRegistry scraped = metrics.getPrometheusRegistry();
    MultiCollector publishers = status.publisherMeters();
    scraped.register(publishers);
    unregister = () -> scraped.unregister(publishers);
  }

  /** All routes but those of queries. */
  private void addControl(
      Options options, Replica replica, FrameReader reader, RoutesConfig routes) {
    IndexAccess index = replica.index();
    new RegistrationRoutes(service, options.defaultProfile()).addTo(routes);
    new OverviewRoutes(registrations::whole, index, replica.cluster()).addTo(routes);
    status.addTo(routes);
    new QuarantineRoutes(options.kafka(), registrations::whole, progress::get, reader)
        .addTo(routes);
    new PeerRoutes(peers, registrations::whole, index).addTo(routes);
    new DigestRoutes(index).addTo(routes);
    new CheckpointRoutes(replica.lender()).addTo(routes);
    new ContractRoutes().addTo(routes);
    AccessLog.addTo(routes, log);
  }

  /** The port in use. */
  public int port() {
    return server.port();
  }

  /** Methods served, by path. */
  public SortedMap<String, SortedSet<String>> routes() {
    return server.routes();
  }

  /** Why queries can not be answered yet, null if they can; {@code /ready} may wait for more. */
  public @Nullable String whyNotServing() {
    return status.whyNotServing();
  }

  /** {@code /ready} says no from now on; everything is answered as before. */
  public void drain() {
    status.drain();
  }

  /** The registrations this replica sees. */
  public RegistrationTable registrations() {
    return registrations;
  }

  /** Other indexers whose dumps are taken over. */
  public Peers peers() {
    return peers;
  }

  @Override
  public void close() {
    unregister.run();
    server.close();
    closeParts();
  }

  private void closeParts() {
    peers.close();
    service.close();
    progress.close();
    registrations.close();
    if (log != null) {
      log.close();
    }
  }

  private static @Nullable AccessLog accessLog(Options options, PrometheusMeterRegistry metrics) {
    @Nullable AccessLogSettings settings = options.accessLog();
    try {
      return settings == null ? null : AccessLog.start(settings, metrics);
    } catch (IOException e) {
      throw new UncheckedIOException("the access log can not be opened: " + settings, e);
    }
  }
}
