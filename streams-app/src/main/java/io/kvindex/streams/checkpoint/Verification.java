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

  static Header of(Path directory, Uuid topicId, int partition) throws CheckpointRefusedException {
    if (!Files.isDirectory(directory)) {
      throw new CheckpointRefusedException(Reason.DAMAGED, directory + " is no directory");
    }
    try (Options options = RocksSettings.options().setCreateIfMissing(false);
        RocksDB db = RocksDB.openReadOnly(options, directory.toString())) {
      Header header = Checkpoint.header(db, topicId, partition);
      if (header == null) {
        throw new CheckpointRefusedException(Reason.INCOMPLETE, "it has no header");
      }
      db.verifyChecksum();
      requireKnown(directory, db);
      return header;
    } catch (RocksDBException e) {
      throw Checkpoint.damaged(e);
    } catch (IOException e) {
      throw new CheckpointRefusedException(Reason.DAMAGED, "it can not be read: " + e, e);
    }
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
