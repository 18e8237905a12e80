// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.query.peer.Peers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Flags of who serves the HTTP API to routers: where, and what it is started with. */
final class ServerOptions {

  @Option(
      names = {"--http-port", "--port"},
      paramLabel = "PORT",
      description =
          "Port of the HTTP API, 0 = any free one (default: the configuration file's, else 13333).")
  private @Nullable Integer port;

  @Mixin private BindOption bind;

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = {
        "Mooncake Conductor's configuration file: port and registrations",
        "(default: CONDUCTOR_CONFIG_PATH, else ~/.mooncake/conductor_config.json if it exists)."
      })
  private @Nullable Path file;

  @Option(
      names = "--peers",
      paramLabel = "URL",
      split = ",",
      description =
          "Dynamo or kvindex indexers, separated by commas: the dump of the first one that answers"
              + " is taken over for engines registered from now on.")
  private List<String> peers = List.of();

  @Mixin private DynamoOptions dynamo;

  /**
   * Checks the flags and reads the configuration file, if there is one.
   *
   * @throws IOException if it can not be used; the message says where and why
   * @throws IllegalArgumentException if a flag can not be used
   */
  ConductorConfig read() throws IOException {
    dynamo.check();
    peers.forEach(Peers::requireUrl);
    return ConductorConfig.find(file, System.getenv());
  }

  /** What the flag says, else the file; 0 = any free one. */
  int port(ConductorConfig config) {
    return port == null ? config.httpPort() : port;
  }

  /** Name or address of this machine; a wildcard for all of them. */
  String bind() {
    return bind.address();
  }

  /** Indexers whose dump is taken over, in the order to ask them. */
  List<String> peers() {
    return peers;
  }

  DynamoOptions dynamo() {
    return dynamo;
  }
}
