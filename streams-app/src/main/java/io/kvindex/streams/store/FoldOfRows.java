// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.view.PartitionView;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The table that is folded from a store's rows, from when the store opens until it closes.
 *
 * <p>It is loaded by a thread of its own, started when a store with rows opens: Kafka opens each
 * store twice at a warm start, and the first time is over before anything is read. Whoever writes
 * first waits for it. An empty store, or one far behind, is loaded when it has been filled: to fold
 * rows one by one each needs its former value, a read that makes a restore several times as long.
 * Scanning them once at the end does not. The end is where somebody asks for the table: the active
 * task's processor, or who compares a standby's place with the changelog's end.
 *
 * <p>Thread-safe.
 */
final class FoldOfRows {

  private final String store;
  private final LongSupplier rows;
  private @Nullable TableLoader loader;
  private @Nullable PartitionTable unloaded;

  /** Null = it was loaded when it opened. */
  private volatile @Nullable BulkFill filling;

  /**
   * @param store its name, for people
   * @param rows about how many there are
   */
  FoldOfRows(String store, LongSupplier rows) {
    this.store = store;
    this.rows = rows;
  }

  /**
   * @param later whether rows are to be filled in first, and loaded after that, once
   */
  synchronized void open(PartitionTable table, boolean later) {
    if (later) {
      unloaded = table;
      filling = new BulkFill(table.view().partition());
      loader = null;
    } else {
      loader = TableLoader.start(table, rows.getAsLong());
    }
  }

  /**
   * Has rows written that are folded later.
   *
   * @param batch makes what writes them; asked only if they are
   * @return false if rows must be folded one by one
   */
  synchronized boolean fill(Supplier<Runnable> batch) {
    BulkFill fill = filling;
    if (unloaded == null || fill == null) {
      return false;
    }
    fill.write(batch.get());
    return true;
  }

  /** Whether it has not been asked for since rows were filled in. */
  synchronized boolean isFilled() {
    return unloaded != null;
  }

  /** Waits until what was filled in is written. */
  void finishFilling() {
    BulkFill fill = filling;
    if (fill != null) {
      fill.finish();
    }
  }

  /** Waits until it is loaded; as {@link TableLoader#await}. */
  PartitionTable await() {
    return loader().await();
  }

  private synchronized TableLoader loader() {
    TableLoader current = loader;
    if (current == null && unloaded != null) {
      finishFilling();
      current = TableLoader.start(unloaded, rows.getAsLong());
      unloaded = null;
      loader = current;
    }
    if (current == null) {
      throw new IllegalStateException("store " + store + " is not open");
    }
    return current;
  }

  /**
   * For readers.
   *
   * @param load whether to begin to load it where rows were filled in
   * @return null while the store is opening
   */
  synchronized @Nullable PartitionView view(boolean load) {
    if (unloaded != null && !load) {
      return unloaded.view();
    }
    return unloaded == null && loader == null ? null : loader().view();
  }

  /** Whoever has seen a view must see that it has ended, also one nothing was loaded into. */
  void end() {
    PartitionTable neverLoaded;
    TableLoader current;
    synchronized (this) {
      neverLoaded = unloaded;
      unloaded = null;
      current = loader;
      loader = null;
    }
    if (current != null) {
      current.close();
    } else if (neverLoaded != null) {
      neverLoaded.view().closed();
    }
  }
}
