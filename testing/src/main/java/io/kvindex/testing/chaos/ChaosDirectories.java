// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Removes what a run left on disk. */
final class ChaosDirectories {

  private ChaosDirectories() {}

  /** Removes a directory and all in it. */
  static void delete(Path tree) throws IOException {
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
