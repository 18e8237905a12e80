// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import java.io.File;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsMetrics;
import org.apache.kafka.streams.processor.BatchingStateRestoreCallback;
import org.apache.kafka.streams.processor.CommitCallback;
import org.apache.kafka.streams.processor.StateRestoreCallback;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.RecordMetadata;

/**
 * The context RocksDB's store is opened with: the real one, except that rows restored from the
 * changelog come to us instead of to RocksDB.
 */
final class RestoreContext implements StateStoreContext {

  /** Takes restored rows in order. */
  interface Restore {
    void rows(Collection<KeyValue<byte[], byte[]>> rows);
  }

  private final StateStoreContext real;
  private final Restore restore;

  RestoreContext(StateStoreContext real, Restore restore) {
    this.real = real;
    this.restore = restore;
  }

  @Override
  public void register(StateStore store, StateRestoreCallback callback) {
    real.register(store, new Callback(restore), () -> {});
  }

  @Override
  public void register(
      StateStore store, StateRestoreCallback callback, CommitCallback commitCallback) {
    real.register(store, new Callback(restore), commitCallback);
  }

  private record Callback(Restore restore) implements BatchingStateRestoreCallback {
    @Override
    public void restoreAll(Collection<KeyValue<byte[], byte[]>> records) {
      restore.rows(records);
    }
  }

  @Override
  public String applicationId() {
    return real.applicationId();
  }

  @Override
  public TaskId taskId() {
    return real.taskId();
  }

  @Override
  public Optional<RecordMetadata> recordMetadata() {
    return real.recordMetadata();
  }

  @Override
  public Serde<?> keySerde() {
    return real.keySerde();
  }

  @Override
  public Serde<?> valueSerde() {
    return real.valueSerde();
  }

  @Override
  public File stateDir() {
    return real.stateDir();
  }

  @Override
  public StreamsMetrics metrics() {
    return real.metrics();
  }

  @Override
  public Map<String, Object> appConfigs() {
    return real.appConfigs();
  }

  @Override
  public Map<String, Object> appConfigsWithPrefix(String prefix) {
    return real.appConfigsWithPrefix(prefix);
  }
}
