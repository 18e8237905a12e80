// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.streams.checkpoint.CheckpointRefusedException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a checkpoint of the layout before this one anew, so that an upgrade loses nothing of what
 * the log has forgotten.
 */
final class Conversion {

  private static final Logger LOG = LoggerFactory.getLogger(Conversion.class);
  private static final int BATCH_BYTES = 1 << 20;

  /** The layout before this one, null = there is none whose rows are any use. Tests make one up. */
  static volatile @Nullable Former former;

  private Conversion() {}

  /** Whether rows of a layout can be used, as they are or converted. */
  static boolean isKnown(long layout) {
    Former before = former;
    return layout == Header.LAYOUT || before != null && layout == before.layout();
  }

  /**
   * Converts a directory that nobody has open, if it has to be. It is as it was if this throws.
   *
   * @throws CheckpointRefusedException if it can not be read
   */
  static void ifFormer(Path directory) throws CheckpointRefusedException, IOException {
    Former before = former;
    if (before == null || !Files.exists(directory.resolve("CURRENT"))) {
      return;
    }
    Replacement replacement = new Replacement(directory);
    try (Options options = RocksSettings.options().setCreateIfMissing(false);
        RocksDB from = RocksDB.openReadOnly(options, directory.toString())) {
      byte[] row = from.get(Checkpoint.HEADER);
      if (row == null || Header.layoutOf(row) != before.layout()) {
        return;
      }
      convert(from, before, before.header(row), replacement.begin());
    } catch (RocksDBException e) {
      replacement.giveUp();
      throw Checkpoint.unreadable(e);
    } catch (MalformedRecordException e) {
      replacement.giveUp();
      throw new CheckpointRefusedException(Reason.MALFORMED_ROW, "" + e.getMessage(), e);
    }
    replacement.end();
    LOG.info(
        "the checkpoint in {} was of layout {}, and is of {} now",
        directory,
        before.layout(),
        Header.LAYOUT);
  }

  private static void convert(RocksDB from, Former before, Header header, Path target)
      throws RocksDBException {
    try (Options options = RocksSettings.options();
        WriteOptions unlogged = new WriteOptions().setDisableWAL(true);
        FlushOptions flush = new FlushOptions().setWaitForFlush(true);
        ReadOptions once = new ReadOptions().setFillCache(false);
        WriteBatch batch = new WriteBatch();
        RocksDB to = RocksDB.open(options, target.toString());
        RocksIterator rows = from.newIterator(once)) {
      for (rows.seekToFirst(); rows.isValid(); rows.next()) {
        if (rows.key().length != Checkpoint.HEADER.length) {
          before.row(rows.key(), rows.value(), batch);
        }
        if (batch.getDataSize() >= BATCH_BYTES) {
          to.write(unlogged, batch);
          batch.clear();
        }
      }
      rows.status();
      // What has no header is no checkpoint, so it is written last.
      batch.put(Checkpoint.HEADER, header.encode());
      to.write(unlogged, batch);
      to.flush(flush);
    }
  }
}
