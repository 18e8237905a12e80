// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.bridge.Bridge;
import io.kvindex.bridge.BridgeConfig;
import io.kvindex.bridge.follow.GapPolicy;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.concurrent.Callable;
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

  @Spec private CommandSpec spec;
  @Mixin private ClusterOptions cluster;

  @Option(
      names = "--http-port",
      paramLabel = "PORT",
      description =
          "Port of /health, /ready, /metrics and /workers, 0 = any free one (default: ${DEFAULT-VALUE}).",
      defaultValue = "13334")
  private int httpPort;

  @Option(
      names = "--bind",
      paramLabel = "ADDRESS",
      description = "Address the HTTP side listens on (default: ${DEFAULT-VALUE}).",
      defaultValue = "127.0.0.1")
  private String bind;

  @Option(
      names = "--quarantine-raw",
      paramLabel = "on|off",
      description =
          "Whether undecodable batches are kept with their bytes, which hold token ids (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_QUARANTINE_RAW:-on}")
  private OnOff rawQuarantine;

  @Option(
      names = "--gap-policy",
      paramLabel = "keep|reset",
      description =
          "What becomes of an engine's blocks once events of it are lost for good: keep them and name"
              + " it degraded, or reset it, so that nothing is promised that is gone"
              + " (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_GAP_POLICY:-keep}")
  private GapPolicy gapPolicy;

  @Override
  public Integer call() throws InterruptedException {
    SiteTopics topics = cluster.ensureTopics();
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Bridge bridge =
        Bridge.start(
            BridgeConfig.on(cluster.kafka())
                .withRawQuarantine(rawQuarantine.isOn())
                .with(gapPolicy)
                .with(topics.generations()),
            metrics);
    BridgeHttp http = new BridgeHttp(bridge, metrics, bind, httpPort);
    spec.commandLine()
        .getOut()
        .printf("kvindex bridge: ready at http://%s:%d%n", bind, http.port());
    spec.commandLine().getOut().flush();
    UntilStopped.run(
        () -> {
          http.close();
          bridge.close();
        });
    return 0;
  }
}
