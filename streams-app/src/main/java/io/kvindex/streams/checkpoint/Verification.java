// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.checkpoint.CheckpointRefusedException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** Looks at a checkpoint that came from elsewhere, before it is used. */
final class Verification {

  private Verification() {}

  /** Does something with a database that nobody changes. */
  private interface Look {
    Header at(RocksDB db) throws CheckpointRefusedException, IOException, RocksDBException;
  }

  /**
   * Reads all of a directory that nobody has open, once, and says whether it can be used: a copy
   * that was sent, or a backup. Changes nothing there.
   *
   * @throws CheckpointRefusedException if it can not
   * @throws IOException if the disk can not be read
   */
  static Header of(Path directory, Uuid topicId, int partition)
      throws CheckpointRefusedException, IOException {
    return look(
        directory,
        db -> {
          Header header = headerOf(db);
          header.requireOf(topicId, partition);
          db.verifyChecksum();
          requireKnown(directory, db);
          return header;
        });
  }

  /** What a directory's checkpoint is of; that it is whole is not said. */
  static Header headerOf(Path directory) throws CheckpointRefusedException, IOException {
    return look(directory, Verification::headerOf);
  }

  private static Header look(Path directory, Look look)
      throws CheckpointRefusedException, IOException {
    if (!Files.isDirectory(directory)) {
      throw new CheckpointRefusedException(Reason.DAMAGED, directory + " is no directory");
    }
    try (Options options = RocksSettings.options().setCreateIfMissing(false);
        RocksDB db = RocksDB.openReadOnly(options, directory.toString())) {
      return look.at(db);
    } catch (RocksDBException e) {
      throw Checkpoint.unreadable(e);
    }
  }

  private static Header headerOf(RocksDB db) throws CheckpointRefusedException, RocksDBException {
    byte[] row = db.get(Checkpoint.HEADER);
    if (row == null) {
      throw new CheckpointRefusedException(Reason.INCOMPLETE, "it has no header");
    }
    return Header.decode(row);
  }

  /** A manifest that was cut off is read up to there, and leads to what was before. */
  private static void requireKnown(Path directory, RocksDB db)
      throws IOException, CheckpointRefusedException {
    Set<String> known =
        db.getLiveFilesMetaData().stream()
            .map(file -> file.fileName().replace("/", ""))
            .collect(Collectors.toSet());
    try (Stream<Path> files = Files.list(directory)) {
      String unknown =
          files
              .map(file -> file.getFileName().toString())
              .filter(name -> name.endsWith(".sst") && !known.contains(name))
              .findAny()
              .orElse(null);
      if (unknown != null) {
        throw new CheckpointRefusedException(
            Reason.DAMAGED, "its manifest does not know " + unknown);
      }
    }
  }
}
