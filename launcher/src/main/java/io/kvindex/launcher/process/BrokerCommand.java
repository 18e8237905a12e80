// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.sandbox.broker.BrokerCluster;
import io.kvindex.sandbox.broker.BrokerOptions;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs the embedded Kafka broker alone. */
@Command(
    name = "broker",
    description = {
      "Runs a Kafka broker (KRaft) on a data directory, for sites without a Kafka cluster of their own: alone, or as",
      "one node of several that know each other by --voters. It has no authentication: keep it on loopback or a",
      "trusted network.",
      "",
      "Three on one machine:  kvindex broker --node-id 1 --port 9092 --data-dir data/1 \\",
      "                         --voters 1@127.0.0.1:9192,2@127.0.0.1:9193,3@127.0.0.1:9194",
      "and the same with 2 and 3. Topics get three copies then; bridges and indexes need --replication 3.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class BrokerCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Option(
      names = "--host",
      paramLabel = "HOST",
      description = "Address to listen on and to tell clients (default: ${DEFAULT-VALUE}).",
      defaultValue = "127.0.0.1")
  private String host;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "Port for Kafka clients, 0 = any free one (default: ${DEFAULT-VALUE}).",
      defaultValue = "9092")
  private int port;

  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description = "Where everything is kept (default: ${DEFAULT-VALUE}).",
      defaultValue = DataDirectory.DEFAULT)
  private Path dataDir;

  @Option(
      names = "--node-id",
      paramLabel = "N",
      description = "This node, one of --voters (default: ${DEFAULT-VALUE}).",
      defaultValue = "1")
  private int nodeId;

  @Option(
      names = "--voters",
      paramLabel = "ID@HOST:PORT",
      description =
          "Controllers of all nodes of a cluster, separated by commas, the same at every node (default: this"
              + " node is alone).")
  private @Nullable String voters;

  @Option(
      names = "--cluster-id",
      paramLabel = "NAME",
      description = "Any name, the same at every node of --voters (default: ${DEFAULT-VALUE}).",
      defaultValue = "kvindex")
  private String clusterId;

  @Option(
      names = "--property",
      paramLabel = "NAME=VALUE",
      description =
          "One setting of Kafka's brokers above those kvindex sets; may be given several times.")
  private Map<String, String> properties = new LinkedHashMap<>();

  @Override
  public Integer call() throws InterruptedException {
    EmbeddedBroker broker = EmbeddedBroker.start(options());
    spec.commandLine().getOut().printf("kvindex broker: ready at %s%n", broker.bootstrapServers());
    spec.commandLine().getOut().flush();
    StopSignal.runUntil(broker);
    return 0;
  }

  private BrokerOptions options() {
    BrokerOptions alone =
        BrokerOptions.in(dataDir.resolve("kafka"))
            .withHost(host)
            .withPort(port)
            .withProperties(properties);
    if (voters != null) {
      return alone.withCluster(BrokerCluster.of(clusterId, nodeId, voters));
    }
    if (nodeId != 1) {
      throw new IllegalArgumentException("--node-id " + nodeId + " needs --voters");
    }
    return alone;
  }
}
