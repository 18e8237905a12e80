// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.topic.Topics;
import io.kvindex.streams.PartitionProgress.Phase;
import io.kvindex.streams.checkpoint.CheckpointMeters;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.runtime.CopySettings;
import io.kvindex.streams.runtime.LogTopic;
import io.kvindex.streams.runtime.LogWatch;
import io.kvindex.streams.runtime.PartitionBacklog;
import io.kvindex.streams.runtime.ProcessTables;
import io.kvindex.streams.runtime.SeekingClients;
import io.kvindex.streams.runtime.TableState;
import io.kvindex.streams.runtime.TableTopology;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.jspecify.annotations.Nullable;
import org.rocksdb.NativeLibraryLoader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A copy of the log's fold in this process, or its part of one: its tables are loaded from their
 * checkpoints, follow the log, and answer. Thread-safe.
 */
public final class IndexCopy implements IndexPartitions, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(IndexCopy.class);
  private static final Duration LEAVE_WITHIN = Duration.ofSeconds(10);

  /** By then what others say of themselves is newer, and no task of a rebalance is on its way. */
  private static final Duration LET_GO_AFTER = Duration.ofSeconds(10);

  /** Each takes two threads, one that reads and one that puts into memory. */
  private static final int LOADS_AT_ONCE = 2;

  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);
  private static final Duration SAME_TOPIC = Duration.ofSeconds(30);
  private static final Duration AGAIN = Duration.ofSeconds(1);

  private final CopyConfig config;
  private final int partitions;
  private final LogTopic topic;
  private final CopyLoading loading;
  private final ProcessTables tables;
  private final LogWatch log;
  private final KafkaStreams streams;
  private final StreamFailures failures;
  private final CheckpointLender lender;

  /** Whether the group has given out all partitions once, and those given to this process ran. */
  private volatile boolean assigned;

  /** Whether all was ready once that this process is to have: from then on it has traffic. */
  private volatile boolean wasReady;

  private volatile boolean leaving;
  private volatile boolean closed;

  private IndexCopy(
      CopyConfig config, int partitions, Supplier<List<String>> lenders, MeterRegistry metrics)
      throws IOException {
    this.config = config;
    this.partitions = partitions;
    lender =
        new CheckpointLender(
            config.directory().resolve("lent"), partitions, this::inUse, this::isComing, metrics);
    IndexMeters meters = new IndexMeters(metrics);
    CheckpointMeters.register(metrics);
    topic =
        new LogTopic(
            Admin.create(ClientKind.ADMIN.settings(config.kafka(), Map.of())), Topics.EVENTS);
    loading =
        new CopyLoading(
            config,
            topic,
            new FoldedPartition.Shared(
                new Epochs(),
                new Journal.Pieces(),
                meters,
                config.limits(),
                config.journal(),
                metrics),
            lenders,
            metrics);
    tables =
        new ProcessTables(partitions, LOADS_AT_ONCE, topic::id, loading, metrics, LONGEST_PAUSE);
    log = new LogWatch(topic, tables, config.maxLag(), SAME_TOPIC, AGAIN);
    SeekingClients clients = new SeekingClients();
    streams =
        new KafkaStreams(
            TableTopology.of(Topics.EVENTS, tables, clients::seek, log::taskBegins),
            CopySettings.of(
                config.kafka(),
                config.applicationId(),
                config.member(),
                config.directory().resolve("streams"),
                Math.min(partitions, Runtime.getRuntime().availableProcessors())),
            clients);
    failures = new StreamFailures(config.member() + " of copy " + config.copy(), metrics);
    streams.setUncaughtExceptionHandler(failures);
    streams.setStateListener(
        (now, before) -> assigned = assigned || now == KafkaStreams.State.RUNNING);
    meters.watch(
        this,
        p -> {
          FoldedPartition table = inUse(p);
          return table == null ? 0 : table.checkpointAgeSeconds();
        });
  }

  /**
   * Starts a copy; its tables are loaded and its group is joined in the background. One that has
   * another process already loads what the group gives to this one, as it is given.
   *
   * @param partitions partitions of the events topic
   * @param alone whether no other process of the copy is known to run
   * @param lenders {@code host:port} of others that may lend checkpoints; asked by loading threads
   *     only, so it may wait
   * @throws UncheckedIOException if the directory can not be used
   */
  public static IndexCopy start(
      CopyConfig config,
      int partitions,
      boolean alone,
      Supplier<List<String>> lenders,
      MeterRegistry metrics) {
    unpackRocksDb(config.directory().resolve("native"));
    IndexCopy copy;
    try {
      copy = new IndexCopy(config, partitions, lenders, metrics);
    } catch (IOException e) {
      throw new UncheckedIOException(config.directory() + " can not be used", e);
    }
    copy.log.start();
    CompletableFuture<Void> first =
        alone ? copy.tables.loadAll() : CompletableFuture.completedFuture(null);
    first.thenRun(copy::follow).exceptionally(copy::giveUp);
    return copy;
  }

  /**
   * Loads RocksDB's native code from beside the rows. Left to itself RocksDB unpacks its 15 MB into
   * the directory for temporary files under a new name each time, and who is killed leaves them
   * there; here the next start writes over it. Where that can't be, RocksDB finds its own way: its
   * loader says so with a RuntimeException where a file of that name can not be deleted.
   */
  static void unpackRocksDb(Path directory) {
    try {
      Files.createDirectories(directory);
      NativeLibraryLoader.getInstance().loadLibrary(directory.toAbsolutePath().toString());
    } catch (IOException | RuntimeException | UnsatisfiedLinkError e) {
      LOG.info("RocksDB's native code is not kept in {}: {}", directory, e.toString());
    }
  }

  private synchronized void follow() {
    if (!closed) {
      streams.start();
    }
  }

  private @Nullable Void giveUp(Throwable failure) {
    failures.giveUp("Kafka Streams does not start: " + failure, failure);
    return null;
  }

  /** Lends this process's checkpoints. */
  public CheckpointLender lender() {
    return lender;
  }

  private @Nullable FoldedPartition inUse(int partition) {
    return closed ? null : (FoldedPartition) tables.at(partition).inUse();
  }

  private boolean isAbsent(int partition) {
    return tables.at(partition).state() == TableState.ABSENT;
  }

  /** Whether there is no table yet, and will be one of this process's own. */
  private boolean isComing(int partition) {
    return view(partition) == null && !isAbsent(partition) && loading.hasOwn(partition);
  }

  /**
   * Another process of the copy keeps a partition up: what is left of it here is put away, unless
   * the group has only just taken it from this one.
   */
  public void letGo(int partition) {
    if (assigned) {
      tables.at(partition).letGo(LET_GO_AFTER);
    }
  }

  // ------------------------------------------------------------------- answering

  @Override
  public int partitions() {
    return partitions;
  }

  @Override
  public @Nullable PartitionView view(int partition) {
    return tables.at(partition).view();
  }

  /** Why the tables are not kept any more and only a person can help, null = they are kept. */
  public @Nullable String givenUp() {
    return failures.givenUp();
  }

  @Override
  public boolean keepsUp(int partition) {
    return tables.at(partition).isFollowed()
        && view(partition) != null
        && log.backlog(partition).keepsUp(System.nanoTime());
  }

  @Override
  public long ageMs(int partition) {
    return TimeUnit.NANOSECONDS.toMillis(log.backlog(partition).ageNanos(System.nanoTime()));
  }

  @Override
  public long recordsBehind(int partition) {
    return Math.max(0, log.backlog(partition).records());
  }

  @Override
  public PartitionProgress progress(int partition) {
    if (view(partition) != null) {
      if (keepsUp(partition)) {
        return PartitionProgress.of(Phase.READY);
      }
      PartitionBacklog.Found backlog = log.backlog(partition);
      return !tables.at(partition).isFollowed() && backlog.wasClose()
          ? PartitionProgress.of(Phase.STALE)
          : new PartitionProgress(Phase.CATCHING_UP, backlog.done(), backlog.total(), 0);
    }
    PartitionProgress load = loading.progress(partition);
    if (load != null) {
      return load;
    }
    return PartitionProgress.of(isAbsent(partition) ? Phase.ABSENT : Phase.LOADING);
  }

  @Override
  public boolean wasClose(int partition) {
    return log.backlog(partition).wasClose();
  }

  @Override
  public @Nullable String notReadyReason() {
    return notReadyReason(p -> false);
  }

  @Override
  public @Nullable String notReadyReason(IntPredicate elsewhere) {
    if (leaving) {
      return LEAVING;
    }
    String givenUp = failures.givenUp();
    if (givenUp != null) {
      return givenUp;
    }
    for (int p = 0; p < partitions; p++) {
      String reason = notReadyReason(p, elsewhere);
      if (reason != null) {
        return reason;
      }
    }
    wasReady = true;
    return null;
  }

  @Override
  public @Nullable String notReadyReason(int partition, IntPredicate elsewhere) {
    String reason = notReadyReason(partition);
    if (reason == null || !(wasReady || isOthers(partition))) {
      return reason;
    }
    return elsewhere.test(partition) ? null : reason + ", and no other replica has it ready";
  }

  private boolean isOthers(int partition) {
    return assigned && isAbsent(partition);
  }

  @Override
  public @Nullable String notReadyReason(int partition) {
    String givenUp = failures.givenUp();
    if (givenUp != null) {
      return givenUp;
    }
    if (isOthers(partition)) {
      return "partition " + partition + " is with another process of copy " + config.copy();
    }
    if (view(partition) == null) {
      String failure = tables.at(partition).failure();
      return "partition "
          + partition
          + " is "
          + progress(partition).text()
          + (failure.isEmpty() ? "" : ": " + failure);
    }
    // What was visible before a restart must be visible again first; later some lag is no reason to
    // send routers away.
    PartitionBacklog.Found backlog = log.backlog(partition);
    if (backlog.wasClose()) {
      return null;
    }
    long records = backlog.records();
    return "partition "
        + partition
        + " is "
        + (records == PartitionBacklog.UNKNOWN ? "not measured yet" : records + " records behind");
  }

  @Override
  public @Nullable String warning() {
    for (int p = 0; p < partitions; p++) {
      FoldedPartition table = inUse(p);
      String warning = table == null ? null : table.warning();
      if (warning != null) {
        return warning;
      }
    }
    return null;
  }

  @Override
  public String copy() {
    return config.copy();
  }

  @Override
  public String logId() {
    return loading.logId();
  }

  /** Tells the other replicas that this one is about to go and takes no traffic. */
  public void announceLeaving() {
    leaving = true;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    failures.close();
    log.close();
    streams.close(
        CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
            .withTimeout(LEAVE_WITHIN));
    tables.close();
    topic.close();
  }
}
