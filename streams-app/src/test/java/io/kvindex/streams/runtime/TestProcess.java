// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.jspecify.annotations.Nullable;

/** A process of a copy: what an indexer would put together, with a disk in memory. */
final class TestProcess implements AutoCloseable {

  /** Told before a record is folded. */
  interface Hook {
    void before(int partition, long offset);
  }

  final String name;
  final Map<Integer, ChainTable.State> disk = new ConcurrentHashMap<>();
  final Queue<String> complaints = new ConcurrentLinkedQueue<>();
  final List<Refusal> refusals = new CopyOnWriteArrayList<>();
  final AtomicInteger loads = new AtomicInteger();
  final AtomicInteger rebalances = new AtomicInteger();
  final AtomicInteger deadThreads = new AtomicInteger();
  final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  final Map<String, Object> site = new HashMap<>();
  volatile Hook hook = (partition, offset) -> {};
  volatile int slowestLoadMs;
  volatile IntConsumer loadHook = partition -> {};

  private final TestLog log;
  private final String application;
  private final Path dir;
  private final Random random;
  private LogTopic topic;
  private LogWatch watch;
  private ProcessTables tables;
  private @Nullable KafkaStreams streams;

  TestProcess(String name, String application, TestLog log, Path dir, long seed) {
    this.name = name;
    this.application = application;
    this.log = log;
    this.dir = dir;
    random = new Random(seed);
    site.putAll(log.kafka);
    // A test has no time to wait for heartbeats.
    site.put("consumer.heartbeat.interval.ms", 50);
    site.put("poll.ms", 25);
    site.put("commit.interval.ms", 500);
    topic = new LogTopic(Admin.create(log.kafka), log.topic);
    tables = newTables();
    watch = newWatch();
  }

  private ProcessTables newTables() {
    return new ProcessTables(
        TestLog.PARTITIONS, 2, topic::id, this::load, metrics, Duration.ofMillis(100));
  }

  private LogWatch newWatch() {
    LogWatch begun =
        new LogWatch(
            topic, tables, Duration.ofSeconds(2), Duration.ofMillis(300), Duration.ofMillis(150));
    begun.start();
    return begun;
  }

  ProcessTables tables() {
    return tables;
  }

  KafkaStreams streams() {
    KafkaStreams running = streams;
    if (running == null) {
      throw new IllegalStateException("not started");
    }
    return running;
  }

  private ChainTable load(int partition, Uuid topicId, @Nullable Refusal before)
      throws InterruptedException {
    loads.incrementAndGet();
    loadHook.accept(partition);
    if (Thread.currentThread().getName().contains("StreamThread")) {
      complaints.add("loaded by " + Thread.currentThread());
    }
    int ms;
    synchronized (random) {
      ms = random.nextInt(3) == 0 ? random.nextInt(slowestLoadMs + 1) : 0;
    }
    new CountDownLatch(1).await(ms, TimeUnit.MILLISECONDS); // a disk that takes its time
    ChainTable.State saved = disk.get(partition);
    if (before != null) {
      refusals.add(before);
      if (before.cause() == Refusal.Cause.LOG_LOST_END
          && saved != null
          && saved.offset() >= before.offset()) {
        disk.remove(partition);
        saved = null;
      }
    }
    return new ChainTable(
        saved == null ? ChainTable.State.EMPTY : saved,
        state -> disk.put(partition, state),
        offset -> hook.before(partition, offset),
        what -> complaints.add(name + "/" + partition + ": " + what));
  }

  /** As a process that has the copy's partitions all to itself: with its tables. */
  void startLoaded(int threads) throws Exception {
    tables.loadAll().get(30, TimeUnit.SECONDS);
    start(threads);
  }

  /** Kafka Streams begins, with the tables that are there. */
  void start(int threads) {
    SeekingClients clients = new SeekingClients();
    KafkaStreams begun =
        new KafkaStreams(
            TableTopology.of(log.topic, tables, clients::seek, watch::taskBegins),
            CopySettings.of(site, application, name, dir.resolve(name), threads),
            clients);
    begun.setUncaughtExceptionHandler(
        failure -> {
          deadThreads.incrementAndGet();
          failure.printStackTrace(System.out);
          return StreamThreadExceptionResponse.REPLACE_THREAD;
        });
    begun.setStateListener(
        (now, before) -> {
          if (now == KafkaStreams.State.REBALANCING) {
            rebalances.incrementAndGet();
          }
        });
    begun.start();
    streams = begun;
  }

  /** Kafka Streams leaves the group and ends; the tables stay. */
  void stop() {
    KafkaStreams running = streams;
    if (running != null) {
      running.close(
          CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
              .withTimeout(Duration.ofSeconds(20)));
      streams = null;
    }
  }

  /** The process ends and there is another one; what it has is on its disk. */
  void replace() {
    close();
    topic = new LogTopic(Admin.create(log.kafka), log.topic);
    tables = newTables();
    watch = newWatch();
  }

  /** What a table has folded, null = it is not in use. */
  ChainTable.@Nullable State state(int partition) {
    ChainTable table = (ChainTable) tables.at(partition).inUse();
    return table == null ? null : table.state();
  }

  /** Offset of the last record folded, -1 = none. */
  long folded(int partition) {
    ChainTable.State state = state(partition);
    return state == null ? -1 : state.offset();
  }

  /** Waits until all that is there now is folded in one of the processes. */
  static void awaitAll(TestLog log, TestProcess... processes) throws Exception {
    long[] lasts = log.lasts();
    await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(10))
        .until(() -> haveAll(lasts, processes));
  }

  /** Whether one of the processes has folded that much of each partition. */
  static boolean haveAll(long[] lasts, TestProcess... processes) {
    for (int p = 0; p < lasts.length; p++) {
      long best = -1;
      for (TestProcess process : processes) {
        best = Math.max(best, process.folded(p));
      }
      if (best < lasts[p]) {
        return false;
      }
    }
    return true;
  }

  /** Whatever became of its tables, each is the plain fold of what it has folded. */
  void assertEachIsAPlainFold() throws Exception {
    List<List<ConsumerRecord<byte[], byte[]>>> records = log.read();
    for (int p = 0; p < TestLog.PARTITIONS; p++) {
      ChainTable.State state = state(p);
      if (state != null) {
        assertThat(state)
            .as(name + "/" + p)
            .isEqualTo(TestLog.fold(ChainTable.State.EMPTY, records.get(p), state.offset()));
      }
    }
  }

  double refused(Refusal.Cause cause) {
    return metrics.counter("kvindex.tables.refused", "cause", cause.label()).count();
  }

  @Override
  public void close() {
    stop();
    watch.close();
    tables.close();
    topic.close();
  }
}
