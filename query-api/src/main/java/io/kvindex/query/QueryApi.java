// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import io.kvindex.model.Media;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Generations;
import io.kvindex.query.access.AccessLog;
import io.kvindex.query.access.AccessLogSettings;
import io.kvindex.query.contract.ContractRoutes;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.digest.DigestRoutes;
import io.kvindex.query.dynamo.DynamoMeters;
import io.kvindex.query.explain.Explainer;
import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.http.RequestObserver;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.overview.OverviewRoutes;
import io.kvindex.query.peer.PeerRoutes;
import io.kvindex.query.peer.Peers;
import io.kvindex.query.quarantine.FrameReader;
import io.kvindex.query.quarantine.QuarantineRoutes;
import io.kvindex.query.registration.BinaryRegistration;
import io.kvindex.query.registration.ConductorRegistration;
import io.kvindex.query.registration.DynamoRegistration;
import io.kvindex.query.registration.RegistrationRoutes;
import io.kvindex.query.registration.RegistrationService;
import io.kvindex.query.registration.RegistrationTable;
import io.kvindex.query.status.ProgressTable;
import io.kvindex.query.status.PublisherReports;
import io.kvindex.query.status.StatusRoutes;
import io.kvindex.query.status.VisibleEvents;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/**
 * The whole HTTP API of one replica: the registrations it sees, the routes, the server. Needs its
 * topics to exist. Start once, close once.
 */
public final class QueryApi implements AutoCloseable {
  private final RegistrationTable registrations;
  private final ProgressTable progress;
  private final RegistrationService service;
  private final Peers peers;
  private final HttpServer server;
  private final StatusRoutes status;
  private final @Nullable AccessLog log;
  private final Runnable onClose;

  private QueryApi(
      RegistrationTable registrations,
      ProgressTable progress,
      RegistrationService service,
      Peers peers,
      HttpServer server,
      StatusRoutes status,
      @Nullable AccessLog log,
      Runnable onClose) {
    this.registrations = registrations;
    this.progress = progress;
    this.service = service;
    this.peers = peers;
    this.server = server;
    this.status = status;
    this.log = log;
    this.onClose = onClose;
  }

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
    IndexAccess index = replica.index();
    @Nullable AccessLog log = accessLog(options, metrics);
    RegistrationTable registrations =
        new RegistrationTable(options.kafka(), options.media(), options.generations(), metrics);
    ProgressTable progress = new ProgressTable(options.kafka());
    RegistrationService service =
        new RegistrationService(registrations, options.kafka(), options.registrationTimeout());
    Peers peers = new Peers(registrations::snapshot, index, options.kafka(), metrics);
    try {
      RegistrationRoutes registering =
          new RegistrationRoutes(
              Map.of(
                  Dialect.CONDUCTOR,
                  new ConductorRegistration(service, options.defaultProfile()),
                  Dialect.BINARY,
                  new BinaryRegistration(service),
                  Dialect.DYNAMO,
                  new DynamoRegistration(service)));
      OverviewRoutes overview =
          new OverviewRoutes(registrations::snapshot, index, replica.cluster());
      StatusRoutes status =
          new StatusRoutes(registrations, progress, index, metrics, options.minInitialWorkers());
      QuarantineRoutes quarantine =
          new QuarantineRoutes(options.kafka(), registrations::snapshot, progress::get, reader);
      VisibleEvents events = new VisibleEvents(registrations::snapshot, progress::get, index);
      Explainer explainer =
          new Explainer(
              registrations::snapshot,
              index,
              new PublisherReports(registrations::snapshot, progress::get, index),
              events,
              options.media());
      PeerRoutes peering = new PeerRoutes(peers, registrations::snapshot, index);
      DigestRoutes digests = new DigestRoutes(index);
      ContractRoutes contract = new ContractRoutes();
      RequestObserver meters = new DynamoMeters(metrics);
      HttpServer server =
          HttpServer.start(
              options.http(),
              DialectAnswers.all(registrations::snapshot, index).explainedBy(explainer),
              events,
              replica.questions(),
              routes -> {
                registering.addTo(routes);
                overview.addTo(routes);
                status.addTo(routes);
                quarantine.addTo(routes);
                peering.addTo(routes);
                digests.addTo(routes);
                contract.addTo(routes);
                AccessLog.addTo(routes, log);
              },
              log == null ? meters : meters.and(log),
              metrics);
      PrometheusRegistry scraped = metrics.getPrometheusRegistry();
      MultiCollector publishers = status.publisherMeters();
      scraped.register(publishers);
      return new QueryApi(
          registrations,
          progress,
          service,
          peers,
          server,
          status,
          log,
          () -> scraped.unregister(publishers));
    } catch (RuntimeException e) {
      peers.close();
      closeAll(service, progress, registrations);
      closeLog(log);
      throw e;
    }
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
    onClose.run();
    server.close();
    peers.close();
    closeAll(service, progress, registrations);
    closeLog(log);
  }

  private static @Nullable AccessLog accessLog(Options options, PrometheusMeterRegistry metrics) {
    @Nullable AccessLogSettings settings = options.accessLog();
    try {
      return settings == null ? null : AccessLog.start(settings, metrics);
    } catch (IOException e) {
      throw new UncheckedIOException("the access log can not be opened: " + settings, e);
    }
  }

  private static void closeLog(@Nullable AccessLog log) {
    if (log != null) {
      log.close();
    }
  }

  private static void closeAll(
      RegistrationService service, ProgressTable progress, RegistrationTable registrations) {
    service.close();
    progress.close();
    registrations.close();
  }
}
