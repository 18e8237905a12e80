// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A checkpoint that takes the place of another one as a whole, whenever the process is killed:
 * beside the directory one is made ({@code .part}), is given another name once it is whole ({@code
 * .whole}), and that one is put in place by whoever finds it.
 */
public final class Replacement {

  private final Path directory;
  private final Path part;
  private final Path whole;

  /**
   * @param directory what is replaced; nobody has it open
   */
  Replacement(Path directory) {
    this.directory = directory.toAbsolutePath();
    part = this.directory.resolveSibling(directory.getFileName() + ".part");
    whole = this.directory.resolveSibling(directory.getFileName() + ".whole");
  }

  /** Where it is made: nothing is there, and the parent is. */
  Path begin() throws IOException {
    delete(part);
    Files.createDirectories(parent());
    return part;
  }

  /** It is not to be had. */
  void giveUp() throws IOException {
    delete(part);
  }

  /** It is whole and on the disk. */
  void end() throws IOException {
    Files.move(part, whole, StandardCopyOption.ATOMIC_MOVE);
    CheckpointStream.sync(parent());
    settle(directory);
  }

  /**
   * Ends what a process that was killed had begun. To be called before a directory is opened.
   *
   * @throws IOException if the disk does not do it
   */
  public static void settle(Path directory) throws IOException {
    Replacement replacement = new Replacement(directory);
    delete(replacement.part);
    // What was made may have been about to be converted.
    Replacement converted = new Replacement(replacement.part);
    delete(converted.part);
    delete(converted.whole);
    if (Files.exists(replacement.whole)) {
      delete(directory);
      Files.move(replacement.whole, replacement.directory, StandardCopyOption.ATOMIC_MOVE);
      CheckpointStream.sync(replacement.parent());
    }
  }

  private Path parent() {
    return Objects.requireNonNull(directory.getParent());
  }

  /** Deletes a directory with all that is in it, if it is there. */
  public static void delete(Path directory) throws IOException {
    if (Files.exists(directory)) {
      try (Stream<Path> all = Files.walk(directory)) {
        for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }
}
