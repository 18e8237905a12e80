// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import java.io.File;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.StreamsMetrics;
import org.apache.kafka.streams.processor.CommitCallback;
import org.apache.kafka.streams.processor.StateRestoreCallback;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.apache.kafka.streams.processor.internals.RecordBatchingStateRestoreCallback;

/**
 * The context RocksDB's store is opened with: the real one, except that rows restored from the
 * changelog come to us instead of to RocksDB.
 */
final class RestoreContext implements StateStoreContext {

  /** Takes restored rows in order. */
  interface Restore {
    /**
     * @param rows a view that does not outlive the call
     * @param inner what would have been done with them: they are written
     */
    void rows(
        Collection<ConsumerRecord<byte[], byte[]>> rows, RecordBatchingStateRestoreCallback inner);
  }

  private final StateStoreContext real;
  private final Restore restore;
  private final Map<String, Object> configs;

  /**
   * @param committed whether rows that were not closed in order hold what is committed and nothing
   *     else: RocksDB's store opens such rows as under at-least-once, where it does not ask
   */
  RestoreContext(StateStoreContext real, Restore restore, boolean committed) {
    this.real = real;
    this.restore = restore;
    configs = new HashMap<>(real.appConfigs());
    if (committed) {
      configs.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.AT_LEAST_ONCE);
    }
  }

  @Override
  public void register(StateStore store, StateRestoreCallback callback) {
    real.register(
        store, new Callback(restore, (RecordBatchingStateRestoreCallback) callback), () -> {});
  }

  @Override
  public void register(
      StateStore store, StateRestoreCallback callback, CommitCallback commitCallback) {
    real.register(
        store,
        new Callback(restore, (RecordBatchingStateRestoreCallback) callback),
        commitCallback);
  }

  /** Kafka's own interface: the public one has each record made into another object first. */
  private record Callback(Restore restore, RecordBatchingStateRestoreCallback inner)
      implements RecordBatchingStateRestoreCallback {
    @Override
    public void restoreBatch(Collection<ConsumerRecord<byte[], byte[]>> records) {
      restore.rows(records, inner);
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
    return configs;
  }

  @Override
  public Map<String, Object> appConfigsWithPrefix(String prefix) {
    return real.appConfigsWithPrefix(prefix);
  }
}
