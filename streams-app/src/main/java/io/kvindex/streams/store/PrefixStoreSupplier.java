// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import io.kvindex.streams.index.Epochs;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/** Makes the prefix-table stores of an application, one per task. */
public final class PrefixStoreSupplier implements KeyValueBytesStoreSupplier {

  private final String name;
  private final Epochs epochs;
  private final StoreFaults faults;
  private final boolean bulk;
  private final SavedRows.Policy saving;
  private final Courtesy courtesy = new Courtesy();
  private final Map<Integer, Instant> wentBack = new ConcurrentHashMap<>();

  /**
   * @param name name of the store
   * @param epochs shared by all indexes of the process
   * @param faults shared by all stores of the process
   * @param bulk whether rows are collected before they are written, for tables without a changelog
   * @param saving when rows are saved as they were at a commit
   */
  public PrefixStoreSupplier(
      String name, Epochs epochs, StoreFaults faults, boolean bulk, SavedRows.Policy saving) {
    this.name = name;
    this.epochs = epochs;
    this.faults = faults;
    this.bulk = bulk;
    this.saving = saving;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public KeyValueStore<Bytes, byte[]> get() {
    KeyValueStore<Bytes, byte[]> rows = Stores.persistentKeyValueStore(name).get();
    return new PrefixStore(
        bulk ? new BulkRows(rows) : rows, epochs, faults, saving, courtesy, wentBack);
  }

  @Override
  public String metricsScope() {
    return "prefix-table";
  }
}
