// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.view.PartitionView;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folds the rows of a store that just opened, off the threads of Kafka Streams. Until it is done it
 * is the table's only writer; {@link #await} hands the table over.
 */
final class TableLoader {
  private static final Logger LOG = LoggerFactory.getLogger(TableLoader.class);

  /** Rows folded between looks at the time. */
  private static final int STEP = 1 << 14;

  private static final long TELL_EVERY_NS = TimeUnit.SECONDS.toNanos(5);

  private final PartitionTable table;
  private final long rows;
  private final FutureTask<Boolean> load;
  private volatile boolean cancelled;
  private long folded;
  private long toldNs = System.nanoTime();

  /** The rows are there and can not be read, or are not what they should be. */
  static final class UnreadableException extends RuntimeException {
    private UnreadableException(Throwable cause) {
      super("rows can not be read into the index: " + cause.getMessage(), cause);
    }
  }

  private TableLoader(PartitionTable table, long rows) {
    this.table = table;
    this.rows = rows;
    this.load = new FutureTask<>(this::load);
  }

  /**
   * @param rows about how many there are
   */
  static TableLoader start(PartitionTable table, long rows) {
    TableLoader loader = new TableLoader(table, rows);
    Thread thread = new Thread(loader.load, "kvindex-load-" + table.view().partition());
    thread.setDaemon(true);
    thread.start();
    return loader;
  }

  private boolean load() {
    long startedNs = System.nanoTime();
    boolean whole = table.load(this::isCancelled);
    if (whole) {
      table.view().loaded();
      if (folded > 0) {
        LOG.info(
            "index loaded partition={} rows={} ms={}",
            table.view().partition(),
            folded,
            (System.nanoTime() - startedNs) / 1_000_000);
      }
    }
    return whole;
  }

  /** Asked before each row. */
  private boolean isCancelled() {
    if (++folded % STEP == 0) {
      table.view().loading(folded, rows);
      long now = System.nanoTime();
      if (now - toldNs > TELL_EVERY_NS) {
        toldNs = now;
        LOG.info(
            "loading the index partition={} rows={} of about {}",
            table.view().partition(),
            folded,
            rows);
      }
    }
    return cancelled;
  }

  /** For readers, who see from its state what it is worth. */
  PartitionView view() {
    return table.view();
  }

  /**
   * Waits until every row is folded; the caller is the table's writer from then on.
   *
   * @throws IllegalStateException if the store was closed meanwhile
   * @throws UnreadableException if its rows can not be read
   */
  PartitionTable await() {
    try {
      if (!load.get()) {
        throw new IllegalStateException("the store was closed while its index was loading");
      }
      return table;
    } catch (ExecutionException e) {
      throw new UnreadableException(e.getCause() == null ? e : e.getCause());
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
