// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.bridge.Bridge;
import io.kvindex.bridge.BridgeConfig;
import io.kvindex.model.member.MemberName;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs a bridge alone, against a Kafka cluster. */
@Command(
    name = "bridge",
    description = {
      "Follows registered engines over ZMQ and writes their events to Kafka. Several bridges share the engines.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class BridgeCommand implements Callable<Integer> {

  private static final Logger LOG = LoggerFactory.getLogger(BridgeCommand.class);

  @Spec private CommandSpec spec;
  @Mixin private ClusterOptions cluster;

  @Option(
      names = "--http-port",
      paramLabel = "PORT",
      description =
          "Port of /health, /ready, /metrics and /workers, 0 = any free one (default: ${DEFAULT-VALUE}).",
      defaultValue = "13334")
  private int httpPort;

  @Mixin private BindOption bind;

  @Option(
      names = "--advertise",
      paramLabel = "HOST:PORT",
      description =
          "Address other bridges reach this one at, by which they notice at once that it is dead;"
              + " without :PORT the HTTP port (default: bind address and port).",
      defaultValue = "${env:KVINDEX_BRIDGE_ADVERTISE:-}")
  private String advertise = "";

  @Mixin private ReadingOptions reading;

  @Override
  public Integer call() throws InterruptedException {
    SiteTopics topics = cluster.ensureTopics();
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    int port = ReplicaAddress.portOn(bind.address(), httpPort);
    Bridge bridge =
        Bridge.start(
            BridgeConfig.on(cluster.kafka())
                .withGroupInstanceId(name(port))
                .withRawQuarantine(reading.rawQuarantine())
                .with(reading.gapPolicy())
                .withTraceOneIn(reading.traceOneIn())
                .with(topics.generations()),
            metrics);
    BridgeHttp http = http(bridge, metrics, port);
    spec.commandLine()
        .getOut()
        .printf("kvindex bridge: ready at %s%n", Address.http(bind.address(), http.port()));
    spec.commandLine().getOut().flush();
    StopSignal.runUntil(
        () -> {
          bridge.close(); // others take one for dead that does not listen
          http.close();
        });
    return 0;
  }

  private BridgeHttp http(Bridge bridge, PrometheusMeterRegistry metrics, int port) {
    try {
      return new BridgeHttp(bridge, metrics, bind.address(), port);
    } catch (RuntimeException e) {
      bridge.close();
      throw e;
    }
  }

  /** Without one, others notice its death by the session timeout. */
  private @Nullable String name(int port) {
    String stated = advertise.isBlank() ? null : advertise.strip();
    try {
      MemberName name = MemberName.at(ReplicaAddress.of(stated, bind.address(), port));
      return name == null ? null : name.text();
    } catch (IllegalArgumentException e) {
      if (stated != null) {
        throw e;
      }
      LOG.info("other bridges do not know where this one is: {}", e.getMessage());
      return null;
    }
  }
}
