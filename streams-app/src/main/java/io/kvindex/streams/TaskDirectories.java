// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where Kafka Streams keeps an application's rows: a directory for each task. */
final class TaskDirectories {

  private static final Logger LOG = LoggerFactory.getLogger(TaskDirectories.class);

  /** Behind the name of a directory that could be neither used nor deleted. */
  private static final String UNUSABLE = ".unusable-";

  /** A task's directory; the task's partition follows the underscore. */
  private static final Pattern TASK = Pattern.compile("\\d+_\\d+");

  private final Path tables;
  private final Deletion deletion;

  /** Deletes a directory with all that is in it. */
  interface Deletion {
    void delete(Path directory) throws IOException;
  }

  /**
   * @param tables of the application; need not be there
   * @param deletion fails as a disk may
   */
  TaskDirectories(Path tables, Deletion deletion) {
    this.tables = tables;
    this.deletion = deletion;
  }

  /** All of them, in order. */
  List<Path> all() throws IOException {
    if (!Files.isDirectory(tables)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(tables)) {
      return all.filter(path -> TASK.matcher(path.getFileName().toString()).matches())
          .sorted()
          .toList();
    }
  }

  /**
   * What can not be deleted is out of the way under another name: rows are built anew all the same.
   *
   * @param directory a task's, or one in it
   */
  void remove(Path directory) throws IOException {
    try {
      deletion.delete(directory);
    } catch (IOException e) {
      Path aside = directory.resolveSibling(directory.getFileName() + UNUSABLE + UUID.randomUUID());
      Files.move(directory, aside, StandardCopyOption.ATOMIC_MOVE);
      LOG.warn("rows that can not be deleted either ({}) are in {}: delete them by hand", e, aside);
    }
  }
}
