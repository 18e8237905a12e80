// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.query.lookup.StreamsIndexAccess;
import io.kvindex.query.remote.ServedTable;
import io.kvindex.streams.IndexerApp;
import io.kvindex.streams.IndexerConfig;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.LongSupplier;

/** An application's table, kept up by this process. */
final class KeptTable implements ServedTable.Keeper {

  private final IndexerApp indexer;
  private final TableMeters meters;

  KeptTable(IndexerApp indexer, TableMeters meters) {
    this.indexer = indexer;
    this.meters = meters;
  }

  /**
   * Opens it; it fills in the background.
   *
   * @param partitions of the events topic
   * @param lagMs see {@link StreamsIndexAccess}
   * @param metrics the process's; the table's figures are hidden at first
   * @throws RuntimeException if it can not be opened; nothing is left of it then
   */
  static ServedTable open(
      IndexerConfig config, int partitions, LongSupplier lagMs, MeterRegistry metrics) {
    TableMeters meters = new TableMeters(metrics);
    IndexerApp indexer = IndexerApp.start(config, partitions, meters.registry());
    try {
      return new ServedTable(
          config.applicationId(),
          new StreamsIndexAccess(indexer, lagMs),
          indexer,
          new KeptTable(indexer, meters),
          metrics);
    } catch (RuntimeException e) {
      indexer.close();
      throw e;
    }
  }

  @Override
  public void showFigures() {
    meters.show();
  }

  @Override
  public void hideFigures() {
    meters.hide();
  }

  @Override
  public void announceLeaving() {
    indexer.announceLeaving();
  }

  @Override
  public void close() {
    indexer.close();
  }

  @Override
  public void deleteRows() {
    indexer.deleteRows();
  }
}
