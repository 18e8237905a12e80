// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.index.Journal;
import org.rocksdb.RocksDBException;

/** Writes a table's journals where the test says so. */
final class Journals {

  private final Journal.Pieces pieces = new Journal.Pieces();
  private final RandomTable table;

  Journals(RandomTable table) {
    this.table = table;
    table.blocks().swap(new Journal(pieces));
  }

  /** What has changed since the last one. */
  Journal next() {
    return table.blocks().swap(new Journal(pieces));
  }

  void write(Checkpoint checkpoint) throws RocksDBException {
    Journal full = next();
    checkpoint.write(full, table.folded());
    full.release();
  }
}
