// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.view.PartitionView;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folds the rows of a store that just opened, off the threads of Kafka Streams. Until it is done it
 * is the table's only writer; {@link #await} hands the table over.
 */
final class TableLoader {
  private static final Logger LOG = LoggerFactory.getLogger(TableLoader.class);

  private final PartitionTable table;
  private final FutureTask<Boolean> load;
  private volatile boolean cancelled;

  private TableLoader(PartitionTable table) {
    this.table = table;
    this.load = new FutureTask<>(this::load);
  }

  static TableLoader start(PartitionTable table) {
    TableLoader loader = new TableLoader(table);
    Thread thread = new Thread(loader.load, "kvindex-load-" + table.view().partition());
    thread.setDaemon(true);
    thread.start();
    return loader;
  }

  private boolean load() {
    long startedNs = System.nanoTime();
    boolean whole = table.load(() -> cancelled);
    if (whole) {
      table.view().loaded();
      LOG.info(
          "index loaded partition={} ms={}",
          table.view().partition(),
          (System.nanoTime() - startedNs) / 1_000_000);
    }
    return whole;
  }

  /** For readers, who see from its state what it is worth. */
  PartitionView view() {
    return table.view();
  }

  /**
   * Waits until every row is folded; the caller is the table's writer from then on.
   *
   * @throws IllegalStateException if the store was closed meanwhile, or its rows can not be read
   */
  PartitionTable await() {
    try {
      if (!load.get()) {
        throw new IllegalStateException("the store was closed while its index was loading");
      }
      return table;
    } catch (ExecutionException e) {
      throw new IllegalStateException("rows could not be read into the index", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the index was loading", e);
    }
  }

  /** Stops loading, waits until RocksDB is not read any more, and marks the view as stale. */
  void close() {
    cancelled = true;
    try {
      load.get();
    } catch (ExecutionException e) {
      LOG.warn("index of partition {} was not loaded", table.view().partition(), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    table.view().closed();
  }
}
