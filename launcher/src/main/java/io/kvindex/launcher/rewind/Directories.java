// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** Directories of tables that are of no use any more. */
public final class Directories {

  private Directories() {}

  /** Deletes one with all that is in it; nothing happens if it is not there. */
  public static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> all = Files.walk(directory)) {
      List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
      for (Path file : deepestFirst) {
        Files.delete(file);
      }
    }
  }
}
