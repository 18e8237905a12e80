// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.sandbox.broker.BrokerOptions;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs the embedded Kafka broker alone. */
@Command(
    name = "broker",
    description = {
      "Runs a Kafka broker (KRaft, one node) on a data directory, for sites without a Kafka cluster of their own.",
      "It has no authentication: keep it on loopback or a trusted network.",
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
      defaultValue = "./kvindex-data")
  private Path dataDir;

  @Override
  public Integer call() throws InterruptedException {
    EmbeddedBroker broker =
        EmbeddedBroker.start(
            BrokerOptions.in(dataDir.resolve("kafka")).withHost(host).withPort(port));
    spec.commandLine().getOut().printf("kvindex broker: ready at %s%n", broker.bootstrapServers());
    spec.commandLine().getOut().flush();
    UntilStopped.run(broker);
    return 0;
  }
}
