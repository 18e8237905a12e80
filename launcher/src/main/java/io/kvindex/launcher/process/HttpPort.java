// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flag for the port of the serving HTTP API, which Conductor's file may name too. */
final class HttpPort {

  @Option(
      names = {"--http-port", "--port"},
      paramLabel = "PORT",
      description =
          "Port of the HTTP API, 0 = any free one (default: the configuration file's, else 13333).")
  private @Nullable Integer port;

  /** What the flag says, else the file; 0 = any free one. */
  int or(ConductorConfig file) {
    return port == null ? file.httpPort() : port;
  }
}
