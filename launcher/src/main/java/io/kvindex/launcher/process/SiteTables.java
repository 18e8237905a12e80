// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.model.site.ServingWatch;
import io.kvindex.query.Replica;
import io.kvindex.query.remote.ReplicaService;
import io.kvindex.query.remote.ServedTable;
import io.kvindex.query.remote.ServingIndex;
import io.kvindex.query.swap.TableSwap;
import io.kvindex.streams.IndexerApp;
import io.kvindex.streams.IndexerConfig;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The table a replica answers from: that of the application the site says serves, now and whenever
 * it says otherwise.
 */
final class SiteTables implements AutoCloseable {

  private final TablesLock lock;
  private final ServingIndex index;
  private final TableSwap swap;
  private final ServingWatch watch;

  private SiteTables(TablesLock lock, ServingIndex index, TableSwap swap, ServingWatch watch) {
    this.lock = lock;
    this.index = index;
    this.swap = swap;
    this.watch = watch;
  }

  /**
   * Opens the table that serves, and follows the site.
   *
   * @param config of whichever application serves
   * @param lagMs see {@link io.kvindex.query.lookup.StreamsIndexAccess}
   * @throws IllegalStateException if another process has its tables in that directory
   */
  static SiteTables start(
      IndexerConfig config, SiteTopics topics, LongSupplier lagMs, MeterRegistry metrics) {
    TablesLock lock = TablesLock.take(config.stateDir());
    try {
      return start(lock, config, topics, lagMs, metrics);
    } catch (RuntimeException | Error e) {
      lock.close();
      throw e;
    }
  }

  private static SiteTables start(
      TablesLock lock,
      IndexerConfig config,
      SiteTopics topics,
      LongSupplier lagMs,
      MeterRegistry metrics) {
    int partitions = topics.eventPartitions();
    IndexerConfig serving = config.as(topics.serving().application());
    IndexerApp.deleteOthers(serving, metrics);
    ServedTable table = KeptTable.open(serving, partitions, lagMs, metrics);
    table.keeper().showFigures();
    ServingIndex index = new ServingIndex(table);
    TableSwap swap =
        TableSwap.start(
            index,
            application -> KeptTable.open(config.as(application), partitions, lagMs, metrics),
            metrics);
    ServingWatch watch =
        ServingWatch.start(
            config.kafka(), topics.serving(), stated -> swap.toServe(stated.application()));
    return new SiteTables(lock, index, swap, watch);
  }

  /** What an API answers from. */
  Replica replica() {
    return new Replica(index, new ReplicaService(index), index.cluster());
  }

  /** Other replicas see in {@code /cluster}, and in what waits for copies, that it is going. */
  void announceLeaving() {
    tables().forEach(table -> table.keeper().announceLeaving());
  }

  /** Leaves the group, or both while there are two; answers go on from memory. */
  void handOver() {
    watch.close();
    swap.close();
    tables().forEach(table -> table.keeper().close());
  }

  /** The one that serves, and the one beside it that is to take its place. */
  private List<ServedTable> tables() {
    ServedTable beside = index.beside();
    return beside == null ? List.of(index.table()) : List.of(index.table(), beside);
  }

  @Override
  public void close() {
    handOver();
    tables().forEach(ServedTable::close);
    lock.close();
  }
}
