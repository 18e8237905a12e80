// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.bridge.Bridge;
import io.kvindex.bridge.BridgeConfig;
import io.kvindex.model.Media;
import io.kvindex.query.QueryApi;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.streams.CopyConfig;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Broker, indexer, HTTP API and bridge in one process: the same parts a cluster runs apart. */
public final class AllInOne implements AutoCloseable {

  private static final int EVENT_PARTITIONS = 4;
  private static final short ONE_COPY = 1;
  private static final long LOG_BYTES_PER_PARTITION = 4L << 30;
  private static final String NAME = "kvindex-all";
  private static final String COPY = "all";
  private static final Duration REGISTRATION_TIMEOUT = Duration.ofSeconds(10);

  private final Closing parts;
  private final String bootstrapServers;
  private final int eventPartitions;
  private final URI uri;

  private AllInOne(Closing parts, String bootstrapServers, int eventPartitions, URI uri) {
    this.parts = parts;
    this.bootstrapServers = bootstrapServers;
    this.eventPartitions = eventPartitions;
    this.uri = uri;
  }

  /**
   * Starts all parts and returns when the HTTP API takes traffic.
   *
   * @throws RuntimeException if a part does not start; those that did are closed again
   */
  public static AllInOne start(AllInOneOptions options) throws InterruptedException {
    return start(options, List.of());
  }

  /**
   * The same with peers whose dump is taken over.
   *
   * @param peers URLs, the first one that answers counts
   */
  public static AllInOne start(AllInOneOptions options, List<String> peers)
      throws InterruptedException {
    return start(options, peers, new DynamoOptions());
  }

  /** The same with what Dynamo's command line says. */
  static AllInOne start(AllInOneOptions options, List<String> peers, DynamoOptions dynamo)
      throws InterruptedException {
    Closing parts = new Closing();
    try {
      return start(options, peers, dynamo, parts);
    } catch (RuntimeException | InterruptedException e) {
      parts.close();
      throw e;
    }
  }

  private static AllInOne start(
      AllInOneOptions options, List<String> peers, DynamoOptions dynamo, Closing parts)
      throws InterruptedException {
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    EmbeddedBroker broker = parts.add(EmbeddedBroker.start(options.dataDir().resolve("kafka")));
    String bootstrap = broker.bootstrapServers();
    SiteTopics topics =
        ClusterTopics.ensure(
            Map.of("bootstrap.servers", bootstrap),
            EVENT_PARTITIONS,
            ONE_COPY,
            LOG_BYTES_PER_PARTITION);
    int port = ReplicaAddress.portOn(options.bind(), options.httpPort());
    CopyConfig config =
        CopyConfig.of(Map.of("bootstrap.servers", bootstrap), COPY, options.dataDir())
            .advertisedAs(ReplicaAddress.onThisMachine(options.bind(), port));
    AtomicReference<@Nullable Bridge> reading = new AtomicReference<>();
    LongSupplier lagMs = new Sampled(() -> ageMs(reading.get()));
    OwnCopy own = parts.add(OwnCopy.start(config, topics.eventPartitions(), lagMs, metrics));
    Bridge bridge =
        parts.add(
            Bridge.start(
                BridgeConfig.at(bootstrap)
                    .withGroupInstanceId(NAME)
                    .with(topics.generations())
                    .withRawQuarantine(options.rawQuarantine())
                    .with(options.gapPolicy())
                    .withTraceOneIn(options.traceOneIn()),
                metrics));
    reading.set(bridge);
    QueryApi api =
        parts.add(
            QueryApi.start(
                new QueryApi.Options(
                    HttpSettings.DEFAULT.at(options.bind(), port),
                    Map.of("bootstrap.servers", bootstrap),
                    REGISTRATION_TIMEOUT,
                    options.defaultProfile(),
                    Media.standard(),
                    topics.generations(),
                    dynamo.accessLog(),
                    DynamoOptions.minInitialWorkers(System.getenv())),
                own.replica(),
                metrics,
                new QuarantineReader()));
    own.listens();
    URI uri = Address.http(options.bind(), api.port());
    StartupGate.recover(api.peers(), peers);
    StartupGate.await(api::whyNotServing);
    StaticRegistrations.apply(uri, options.conductor().registrations());
    StaticRegistrations.apply(uri, dynamo.registrations());
    return new AllInOne(parts, bootstrap, topics.eventPartitions(), uri);
  }

  /** See {@link ClusterTopics#repair}; for the broker of a data directory. */
  static List<String> repairTopics(String bootstrapServers, boolean always)
      throws InterruptedException {
    return ClusterTopics.repair(
        Map.of("bootstrap.servers", bootstrapServers),
        EVENT_PARTITIONS,
        ONE_COPY,
        LOG_BYTES_PER_PARTITION,
        always);
  }

  private static long ageMs(@Nullable Bridge bridge) {
    OptionalLong sinceMicros = bridge == null ? OptionalLong.empty() : bridge.oldestUnackedMicros();
    return sinceMicros.isEmpty()
        ? 0
        : Math.max(
            0,
            System.currentTimeMillis() - TimeUnit.MICROSECONDS.toMillis(sinceMicros.getAsLong()));
  }

  /** Where the HTTP API is. */
  public URI uri() {
    return uri;
  }

  /** Where the embedded broker is. */
  public String bootstrapServers() {
    return bootstrapServers;
  }

  /** Partitions of the events topic. */
  public int eventPartitions() {
    return eventPartitions;
  }

  /** Stops the parts in the opposite order of their start. */
  @Override
  public void close() {
    parts.close();
  }
}
