// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.query.Replica;
import io.kvindex.query.lookup.StreamsIndexAccess;
import io.kvindex.query.remote.ReplicaService;
import io.kvindex.query.remote.ReplicatedIndexAccess;
import io.kvindex.streams.CopyConfig;
import io.kvindex.streams.IndexCopy;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.List;
import java.util.function.LongSupplier;

/** The tables of this process, and the way to what other replicas hold. */
final class OwnCopy implements AutoCloseable {

  private final Closing parts;
  private final IndexCopy indexer;
  private final Replica replica;

  private OwnCopy(Closing parts, IndexCopy indexer, Replica replica) {
    this.parts = parts;
    this.indexer = indexer;
    this.replica = replica;
  }

  /**
   * Opens the tables; they fill in the background.
   *
   * @param partitions of the events topic
   * @param lagMs see {@link StreamsIndexAccess}
   * @throws IllegalStateException if another process has its tables in that directory
   */
  static OwnCopy start(
      CopyConfig config, int partitions, LongSupplier lagMs, MeterRegistry metrics) {
    Closing parts = new Closing();
    try {
      parts.add(TablesLock.take(config.directory()));
      IndexCopy indexer = parts.add(IndexCopy.start(config, partitions, List::of, metrics));
      StreamsIndexAccess own = new StreamsIndexAccess(indexer, lagMs);
      ReplicatedIndexAccess all = parts.add(new ReplicatedIndexAccess(own, indexer, metrics));
      return new OwnCopy(
          parts,
          indexer,
          new Replica(all, new ReplicaService(own, indexer), all.cluster(), indexer.lender()));
    } catch (RuntimeException | Error e) {
      parts.close();
      throw e;
    }
  }

  /** What an API answers from. */
  Replica replica() {
    return replica;
  }

  /** Other replicas see in {@code /cluster}, and in what waits for copies, that it is going. */
  void announceLeaving() {
    indexer.announceLeaving();
  }

  /** Leaves the group; answers go on from memory. */
  void leave() {
    indexer.close();
  }

  @Override
  public void close() {
    parts.close();
  }
}
