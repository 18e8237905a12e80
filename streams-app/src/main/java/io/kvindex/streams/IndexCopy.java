// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.topic.Topics;
import io.kvindex.streams.PartitionProgress.Phase;
import io.kvindex.streams.checkpoint.Borrower;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.CheckpointRefusedException;
import io.kvindex.streams.checkpoint.Header;
import io.kvindex.streams.checkpoint.Replacement;
import io.kvindex.streams.checkpoint.Wanted;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.runtime.CopySettings;
import io.kvindex.streams.runtime.FoldedTable;
import io.kvindex.streams.runtime.LogEndWatch;
import io.kvindex.streams.runtime.LogTopic;
import io.kvindex.streams.runtime.ProcessTables;
import io.kvindex.streams.runtime.Refusal;
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
import java.util.AbstractMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A copy of the log's fold in this process: its tables are loaded from their checkpoints, follow
 * the log, and answer. Thread-safe.
 */
public final class IndexCopy implements IndexPartitions, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(IndexCopy.class);
  private static final Duration LEAVE_WITHIN = Duration.ofSeconds(10);

  /** Each takes two threads, one that reads and one that puts into memory. */
  private static final int LOADS_AT_ONCE = 2;

  private final CopyConfig config;
  private final int partitions;
  private final FoldedPartition.Shared shared;
  private final LogTopic topic;
  private final ProcessTables<PartitionView> tables;
  private final LogEndWatch<PartitionView> ends;
  private final KafkaStreams streams;
  private final StreamFailures failures;
  private final CopyLag lag;
  private final Borrower borrower;
  private final CheckpointLender lender;
  private final Map<Integer, PartitionProgress> loads = new ConcurrentHashMap<>();
  private final Map<Integer, FoldedPartition> loaded = new ConcurrentHashMap<>();
  private volatile boolean leaving;
  private boolean closed;

  private IndexCopy(
      CopyConfig config, int partitions, Supplier<List<String>> lenders, MeterRegistry metrics)
      throws IOException {
    this.config = config;
    this.partitions = partitions;
    shared =
        new FoldedPartition.Shared(
            new Epochs(),
            new Journal.Pieces(),
            new IndexMeters(metrics, new Views()),
            config.limits(),
            config.journal());
    String only = config.borrowFrom();
    borrower = new Borrower(only == null ? lenders : () -> List.of(only), metrics);
    lender =
        new CheckpointLender(
            config.directory().resolve("lent"), partitions, this::inUse, this::isComing, metrics);
    topic =
        new LogTopic(
            Admin.create(ClientKind.ADMIN.settings(config.kafka(), Map.of())), Topics.EVENTS);
    tables = new ProcessTables<>(partitions, LOADS_AT_ONCE, topic::id, this::load, metrics);
    ends = new LogEndWatch<>(topic, tables);
    SeekingClients clients = new SeekingClients();
    streams =
        new KafkaStreams(
            TableTopology.of(Topics.EVENTS, tables, clients::seek, ends::soon),
            new CopySettings(
                    config.kafka(),
                    config.applicationId(),
                    config.member(),
                    config.directory().resolve("streams"),
                    Math.min(partitions, Runtime.getRuntime().availableProcessors()))
                .properties(),
            clients);
    failures = new StreamFailures("copy " + config.copy(), metrics);
    streams.setUncaughtExceptionHandler(failures);
    lag = new CopyLag(topic, partitions, config.maxLag(), this::view, metrics);
    ReadinessGauges.register(this, metrics);
  }

  /** The views there are, for figures. */
  private final class Views extends AbstractMap<Integer, PartitionView> {
    @Override
    public Set<Entry<Integer, PartitionView>> entrySet() {
      return IntStream.range(0, partitions)
          .boxed()
          .filter(p -> view(p) != null)
          .map(p -> Map.entry(p, Objects.requireNonNull(view(p))))
          .collect(Collectors.toSet());
    }
  }

  /**
   * Starts a copy; its tables are loaded and its group is joined in the background.
   *
   * @param partitions partitions of the events topic
   * @param lenders {@code host:port} of others that may lend checkpoints; asked by loading threads
   *     only, so it may wait
   * @throws UncheckedIOException if the directory can not be used
   */
  public static IndexCopy start(
      CopyConfig config, int partitions, Supplier<List<String>> lenders, MeterRegistry metrics) {
    new RocksLibrary(config.directory()).load();
    IndexCopy copy;
    try {
      copy = new IndexCopy(config, partitions, lenders, metrics);
    } catch (IOException e) {
      throw new UncheckedIOException(config.directory() + " can not be used", e);
    }
    copy.lag.start();
    copy.tables.loadAll().thenRun(copy::follow);
    return copy;
  }

  private synchronized void follow() {
    if (!closed) {
      streams.start();
    }
  }

  // ------------------------------------------------------------------- loading

  private FoldedTable<PartitionView> load(int partition, Uuid topicId, @Nullable Refusal before)
      throws IOException, InterruptedException {
    Path directory = directory(partition);
    Replacement.settle(directory);
    boolean isLost = before != null && before.cause() == Refusal.Cause.LOG_LOST_END;
    long differsFrom = before != null && isLost ? before.offset() : Long.MAX_VALUE;
    if (isLost) {
      forgetLost(directory, topicId, partition, differsFrom);
    }
    boolean mayBorrow = config.starts().isEmpty();
    while (true) {
      try {
        if (mayBorrow && !goesOn(directory, topicId, partition)) {
          mayBorrow = false;
          borrow(directory, new Wanted(partition, topicId, differsFrom, logStart(partition)));
        }
        return open(directory, topicId, partition);
      } catch (CheckpointRefusedException e) {
        LOG.warn(
            "the checkpoint of partition {} can not be used ({}) and is deleted: {}",
            partition,
            e.reason().label(),
            e.getMessage());
        Replacement.delete(directory);
      }
    }
  }

  private Path directory(int partition) {
    return config.directory().resolve("tables").resolve(Integer.toString(partition));
  }

  /** Whether there is a checkpoint of this process's own, and the log has what follows. */
  private boolean goesOn(Path directory, Uuid topicId, int partition)
      throws IOException, CheckpointRefusedException {
    if (!hasRows(directory)) {
      return false;
    }
    Header header;
    try (Checkpoint checkpoint = Checkpoint.open(directory, topicId, partition)) {
      header = checkpoint.header();
    }
    if (header == null) {
      Replacement.delete(directory); // of a process that wrote none
      return false;
    }
    return header.folded().offset() + 1 >= logStart(partition);
  }

  private static boolean hasRows(Path directory) {
    return Files.exists(directory.resolve("CURRENT"));
  }

  private long logStart(int partition) throws IOException {
    Long start = topic.starts(Set.of(partition)).get(partition);
    if (start == null) {
      throw new IOException(
          "Kafka does not say where the log of partition " + partition + " begins");
    }
    return start;
  }

  private void borrow(Path directory, Wanted wanted) throws IOException, InterruptedException {
    int partition = wanted.partition();
    long began = System.nanoTime();
    Header borrowed;
    try {
      borrowed =
          borrower.borrow(
              wanted, directory, (done, of) -> loads.put(partition, borrowing(done, of, began)));
    } finally {
      loads.remove(partition);
    }
    if (borrowed == null && wanted.logStart() > 0) {
      LOG.warn(
          "nobody lends partition {}: it has no records before {}, where the log begins",
          partition,
          wanted.logStart());
    }
  }

  private static PartitionProgress borrowing(long done, long of, long beganNs) {
    double seconds = Math.max(1, System.nanoTime() - beganNs) / 1e9;
    return new PartitionProgress(Phase.BORROWING, done, of, (long) (done / seconds));
  }

  private FoldedTable<PartitionView> open(Path directory, Uuid topicId, int partition)
      throws IOException, CheckpointRefusedException, InterruptedException {
    Checkpoint checkpoint = Checkpoint.open(directory, topicId, partition);
    boolean isLoaded = false;
    try {
      long began = System.nanoTime();
      FoldedPartition table =
          FoldedPartition.load(
              partition,
              shared,
              checkpoint,
              config.starts().getOrDefault(partition, -1L),
              (names, of) ->
                  loads.put(partition, new PartitionProgress(Phase.LOADING, names, of, 0)));
      isLoaded = true;
      loaded.put(partition, table);
      LOG.info(
          "partition {} is loaded up to offset {}: {} names in {} ms",
          partition,
          table.foldedOffset(),
          table.names(),
          (System.nanoTime() - began) / 1_000_000);
      return table;
    } finally {
      loads.remove(partition);
      if (!isLoaded) {
        checkpoint.close();
      }
    }
  }

  /** A checkpoint that has records the log does not have any more is of no use. */
  private static void forgetLost(Path directory, Uuid topicId, int partition, long differsFrom)
      throws IOException {
    if (!hasRows(directory)) {
      return;
    }
    try (Checkpoint checkpoint = Checkpoint.open(directory, topicId, partition)) {
      Header header = checkpoint.header();
      if (header == null || header.folded().offset() < differsFrom) {
        return;
      }
    } catch (CheckpointRefusedException e) {
      return; // said when it is to be loaded
    }
    Replacement.delete(directory);
  }

  // ------------------------------------------------------------------- lending

  /** Lends this process's checkpoints. */
  public CheckpointLender lender() {
    return lender;
  }

  private @Nullable FoldedPartition inUse(int partition) {
    FoldedPartition table = loaded.get(partition);
    return table != null && table.view() == view(partition) ? table : null;
  }

  /** Whoever has rows and is not borrowing others will have a table soon. */
  private boolean isComing(int partition) {
    PartitionProgress load = loads.get(partition);
    return view(partition) == null
        && (load == null || load.phase() != Phase.BORROWING)
        && hasRows(directory(partition));
  }

  // ------------------------------------------------------------------- answering

  @Override
  public int partitions() {
    return partitions;
  }

  @Override
  public @Nullable PartitionView view(int partition) {
    return tables.view(partition);
  }

  /** Why the tables are not kept any more and only a person can help, null = they are kept. */
  public @Nullable String givenUp() {
    return failures.givenUp();
  }

  @Override
  public boolean keepsUp(int partition) {
    return tables.isFollowed(partition) && lag.keepsUp(partition);
  }

  @Override
  public long ageMs(int partition) {
    return lag.ageMs(partition);
  }

  @Override
  public long recordsBehind(int partition) {
    return lag.records(partition);
  }

  @Override
  public PartitionProgress progress(int partition) {
    if (view(partition) != null) {
      return keepsUp(partition) ? PartitionProgress.of(Phase.READY) : lag.progress(partition);
    }
    PartitionProgress load = loads.get(partition);
    if (load != null) {
      return load;
    }
    boolean absent = tables.state(partition) == TableState.ABSENT;
    return PartitionProgress.of(absent ? Phase.ABSENT : Phase.LOADING);
  }

  @Override
  public @Nullable String notReadyReason() {
    if (leaving) {
      return LEAVING;
    }
    for (int p = 0; p < partitions; p++) {
      String reason = notReadyReason(p);
      if (reason != null) {
        return reason;
      }
    }
    return null;
  }

  @Override
  public @Nullable String notReadyReason(int partition) {
    String givenUp = failures.givenUp();
    if (givenUp != null) {
      return givenUp;
    }
    if (view(partition) == null) {
      String failure = tables.failure(partition);
      return "partition "
          + partition
          + " is "
          + progress(partition).text()
          + (failure.isEmpty() ? "" : ": " + failure);
    }
    return lag.tooFarBehind(partition);
  }

  @Override
  public @Nullable String address() {
    return config.advertise();
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
    ends.close();
    lag.close();
    streams.close(
        CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
            .withTimeout(LEAVE_WITHIN));
    tables.close();
    topic.close();
  }
}
