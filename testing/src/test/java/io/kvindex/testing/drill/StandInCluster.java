// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A script in place of {@code local-cluster.sh} that starts nothing and writes down its commands.
 */
record StandInCluster(Path directory) {

  /**
   * @param body what it does besides, in bash
   */
  static StandInCluster in(Path directory, String body) throws IOException {
    StandInCluster cluster = new StandInCluster(directory);
    Files.writeString(
        cluster.script(),
        "set -eu\ncommand=$1\necho \"$@\" >> '" + cluster.log() + "'\n" + body + "\n");
    return cluster;
  }

  Path script() {
    return directory.resolve("stand-in.sh");
  }

  private Path log() {
    return directory.resolve("commands");
  }

  /** What a start of the real one would remember. */
  void remember(String... settings) throws IOException {
    Files.write(directory.resolve("settings"), List.of(settings));
  }

  /** Its commands, without the directory. */
  List<String> commands() throws IOException {
    if (!Files.exists(log())) {
      return List.of();
    }
    return Files.readAllLines(log()).stream().map(one -> one.replaceAll(" ?--dir .*", "")).toList();
  }
}
