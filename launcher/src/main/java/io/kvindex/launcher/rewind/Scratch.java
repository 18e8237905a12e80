// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** Directories that are of no use afterwards. */
public final class Scratch {

  private Scratch() {}

  /** Deletes a directory with all that is in it, if it is there. */
  public static void delete(Path tree) throws IOException {
    if (!Files.exists(tree)) {
      return;
    }
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
