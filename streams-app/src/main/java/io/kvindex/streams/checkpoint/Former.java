// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.model.event.MalformedRecordException;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/** How the version before this one wrote rows, where that was another way. */
interface Former {

  /** Number of its layout. */
  int layout();

  /**
   * Reads the header's row.
   *
   * @throws MalformedRecordException if it is none
   */
  Header header(byte[] row) throws MalformedRecordException;

  /**
   * Adds what another row is now; nothing, if there are no such rows any more.
   *
   * @throws MalformedRecordException if there never were
   */
  void row(byte[] key, byte[] value, WriteBatch to)
      throws MalformedRecordException, RocksDBException;
}
