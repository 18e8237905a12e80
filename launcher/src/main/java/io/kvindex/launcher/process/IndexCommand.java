// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.model.Media;
import io.kvindex.query.QueryApi;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.lookup.StreamsIndexAccess;
import io.kvindex.streams.CopyConfig;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs an indexer replica with its HTTP API, against a Kafka cluster. */
@Command(
    name = "index",
    description = {
      "Runs an indexer with the HTTP API that routers ask, against a Kafka cluster.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class IndexCommand implements Callable<Integer> {

  private static final Logger LOG = LoggerFactory.getLogger(IndexCommand.class);
  private static final Duration REGISTRATION_TIMEOUT = Duration.ofSeconds(10);

  /** After draining; with it less than the minute that Kubernetes and compose files give. */
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(30);

  @Spec private CommandSpec spec;
  @Mixin private ClusterOptions cluster;
  @Mixin private ServerOptions server;
  @Mixin private ReplicaOptions replica;

  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description = "Where the tables are kept (default: ${DEFAULT-VALUE}).",
      defaultValue = DataDirectory.DEFAULT)
  private Path dataDir;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Gone.check(System.getenv());
    ConductorConfig file = server.read();
    int port = ReplicaAddress.portOn(server.bind(), server.port(file));
    Duration drain = replica.drain();
    CopyConfig config = replica.applyTo(cluster.kafka(), dataDir, server.bind(), port);
    try (StopSignal stop = StopSignal.install(drain.plus(CLOSE_WITHIN))) {
      return run(config, port, file, stop);
    }
  }

  /** Leaves its group in order however it ends, and with a last checkpoint. */
  private int run(CopyConfig config, int port, ConductorConfig file, StopSignal stop)
      throws IOException, InterruptedException {
    Closing parts = new Closing();
    AutoCloseable end = parts;
    try {
      PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
      SiteTopics topics = cluster.ensureTopics();
      OwnCopy own =
          parts.add(
              OwnCopy.start(
                  config,
                  topics.eventPartitions(),
                  () -> StreamsIndexAccess.READ_ELSEWHERE,
                  metrics));
      QueryApi api =
          parts.add(
              QueryApi.start(
                  apiOptions(topics, port), own.replica(), metrics, new QuarantineReader()));
      own.listens();
      // First of all, as answers go on from memory until the HTTP port is closed.
      parts.add(own::leave);
      URI uri = Address.http(server.bind(), api.port());
      StartupGate.recover(api.peers(), server.peers());
      StartupGate.await(api::whyNotServing);
      Runnable announce =
          () -> {
            api.drain();
            own.announceLeaving();
          };
      end = new Draining(announce, replica.drain(), own::leave, parts);
      StaticRegistrations.apply(uri, file.registrations());
      StaticRegistrations.apply(uri, server.dynamo().registrations());
      spec.commandLine().getOut().printf("kvindex index: ready at %s%n", uri);
      spec.commandLine().getOut().flush();
      stop.await();
      return 0;
    } catch (InterruptedException | RuntimeException e) {
      if (!stop.isAsked()) {
        throw e;
      }
      LOG.debug("stopped", e);
      return 0;
    } finally {
      stop.close(end);
    }
  }

  private QueryApi.Options apiOptions(SiteTopics topics, int port) {
    return new QueryApi.Options(
        HttpSettings.DEFAULT.at(server.bind(), port),
        cluster.kafka(),
        REGISTRATION_TIMEOUT,
        AllCommand.defaultProfile(System.getenv()),
        Media.standard(),
        topics.generations(),
        server.dynamo().accessLog(),
        DynamoOptions.minInitialWorkers(System.getenv()));
  }
}
