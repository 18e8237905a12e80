// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import picocli.CommandLine.Option;

/** Where HTTP is listened for; of every command that serves it. */
final class BindOption {

  @Option(
      names = "--bind",
      paramLabel = "ADDRESS",
      description = "Address the HTTP API listens on (default: ${DEFAULT-VALUE}).",
      defaultValue = "127.0.0.1")
  private String address;

  /** Name or address of this machine; a wildcard for all of them. */
  String address() {
    return address;
  }
}
