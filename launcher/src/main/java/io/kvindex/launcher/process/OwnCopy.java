// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.model.replica.ReplicaDirectory;
import io.kvindex.model.replica.ReplicaId;
import io.kvindex.model.replica.ReplicaLog;
import io.kvindex.model.replica.ReplicaRecord;
import io.kvindex.query.Replica;
import io.kvindex.query.lookup.StreamsIndexAccess;
import io.kvindex.query.remote.ReplicaService;
import io.kvindex.query.remote.ReplicatedIndexAccess;
import io.kvindex.query.remote.RunningCopy;
import io.kvindex.streams.CopyConfig;
import io.kvindex.streams.IndexCopy;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The tables of this process, and the way to what other replicas hold. */
final class OwnCopy implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(OwnCopy.class);
  private static final Duration READ_WITHIN = Duration.ofSeconds(5);

  private final Closing parts = new Closing();
  private final ReplicaId id;
  private final ReplicaLog log;
  private final IndexCopy indexer;
  private final ReplicatedIndexAccess all;
  private final Replica replica;
  private volatile boolean listens;

  private OwnCopy(CopyConfig config, int partitions, LongSupplier lagMs, MeterRegistry metrics)
      throws InterruptedException {
    try {
      parts.add(TablesLock.take(config.directory()));
      String version = OwnCopy.class.getPackage().getImplementationVersion();
      id =
          new ReplicaId(
              Objects.requireNonNull(config.advertise()),
              config.copy(),
              version == null ? "(not packaged)" : version);
      ReplicaDirectory directory = parts.add(new ReplicaDirectory(config.kafka()));
      FunctionCounter.builder(
              "kvindex.replicas.passed.over", directory, ReplicaDirectory::passedOver)
          .description("records of kvindex.replicas that can't be read, or are too many")
          .register(metrics);
      log = parts.add(new ReplicaLog(config.kafka(), directory));
      boolean alone = isAlone(directory);
      Supplier<List<String>> others = () -> directory.others(id.address());
      indexer = parts.add(IndexCopy.start(config, partitions, alone, others, metrics));
      StreamsIndexAccess own = new StreamsIndexAccess(indexer, lagMs);
      all =
          parts.add(new ReplicatedIndexAccess(own, indexer, id, others, this::afterLook, metrics));
      replica =
          new Replica(all, new ReplicaService(own, indexer, id), all.cluster(), indexer.lender());
    } catch (RuntimeException | InterruptedException | Error e) {
      parts.close();
      throw e;
    }
  }

  /**
   * Opens the tables; they fill in the background.
   *
   * @param config with the address others reach this process at
   * @param partitions of the events topic
   * @param lagMs see {@link StreamsIndexAccess}
   * @throws IllegalStateException if another process has its tables in that directory
   */
  static OwnCopy start(CopyConfig config, int partitions, LongSupplier lagMs, MeterRegistry metrics)
      throws InterruptedException {
    return new OwnCopy(config, partitions, lagMs, metrics);
  }

  /**
   * Whether no other process of the copy runs. Where none does, its addresses are of one that was
   * moved, or come back with it.
   */
  private boolean isAlone(ReplicaDirectory directory) throws InterruptedException {
    if (!directory.await(READ_WITHIN)) {
      LOG.warn(
          "Kafka does not tell of the other replicas within {} s; whether one of them has a part of"
              + " copy {} is not known",
          READ_WITHIN.toSeconds(),
          id.copy());
      return true;
    }
    List<String> before =
        directory.addressesOf(id.copy()).stream()
            .filter(address -> !address.equals(id.address()))
            .toList();
    String running = RunningCopy.at(before, id.copy());
    if (running != null) {
      LOG.info(
          "copy {} has, or had, a process at {} as well: they share its partitions",
          id.copy(),
          running);
      return false;
    }
    if (!before.isEmpty()) {
      try {
        log.forget(id.copy());
      } catch (KafkaException e) {
        LOG.warn("{} are still named as addresses of copy {}: {}", before, id.copy(), e.toString());
      }
    }
    return true;
  }

  /** The API is there: from now on others may ask. */
  void listens() {
    listens = true;
  }

  /** Tells the others what is here, and leaves to another process of the copy what it has. */
  private void afterLook() {
    if (listens) {
      SortedSet<Integer> here = new TreeSet<>();
      for (int p = 0; p < indexer.partitions(); p++) {
        if (all.isKeptByOwnCopy(p)) {
          indexer.letGo(p);
        }
        if (indexer.view(p) != null) {
          here.add(p);
        }
      }
      log.keep(new ReplicaRecord(id, here));
    }
  }

  /** What an API answers from. */
  Replica replica() {
    return replica;
  }

  /** Other replicas see in {@code /cluster}, that it is going. */
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
