// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The flag that names Mooncake Conductor's configuration file, for commands that serve HTTP. */
final class ConductorFile {

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description = {
        "Mooncake Conductor's configuration file: port and registrations",
        "(default: CONDUCTOR_CONFIG_PATH, else ~/.mooncake/conductor_config.json if it exists)."
      })
  private @Nullable Path path;

  /**
   * Reads the file, if there is one.
   *
   * @throws IOException if it can not be used; the message says where and why
   */
  ConductorConfig read() throws IOException {
    return ConductorConfig.find(path, System.getenv());
  }
}
