// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import java.lang.reflect.Field;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.internals.RocksDBStore;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDB;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The database behind Kafka's store, of which Kafka Streams 4.3 has a field and no method. With
 * another version that has none, rows are not saved and nothing else is different.
 */
final class RocksAccess {

  private static final Logger LOG = LoggerFactory.getLogger(RocksAccess.class);

  private static final @Nullable Field DATABASE = field();

  private RocksAccess() {}

  private static @Nullable Field field() {
    try {
      Field field = RocksDBStore.class.getDeclaredField("db");
      field.setAccessible(true);
      return field;
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.warn("rows can not be saved: a crash will cost a full restore", e);
      return null;
    }
  }

  /** Null if it is not open, or can not be had. For the thread that owns the task. */
  static @Nullable RocksDB database(KeyValueStore<Bytes, byte[]> rows) {
    try {
      return DATABASE != null && rows instanceof RocksDBStore && rows.isOpen()
          ? (RocksDB) DATABASE.get(rows)
          : null;
    } catch (IllegalAccessException e) {
      throw new AssertionError("it was made accessible", e);
    }
  }
}
