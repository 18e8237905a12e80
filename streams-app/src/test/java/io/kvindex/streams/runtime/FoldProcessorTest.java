// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import io.kvindex.model.Clock;
import io.kvindex.model.event.BatchTrace;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.streams.errors.LockException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FoldProcessorTest {

  private static final int PARTITION = 3;
  private static final TaskId TASK = new TaskId(0, PARTITION);

  @TempDir private Path dir;
  private final List<Long> sought = new ArrayList<>();
  private final List<String> complaints = new ArrayList<>();
  private final List<Refusal> refusals = new ArrayList<>();
  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private ChainTable.State disk = ChainTable.State.EMPTY;
  private @Nullable Throwable bomb;
  private int begun;

  private final ProcessTables tables =
      new ProcessTables(PARTITION + 1, 1, () -> Uuid.ZERO_UUID, this::load, metrics, Duration.ZERO);
  private final TableStore store = new TableStore.Builder("log", tables).build();
  private final FoldProcessor processor =
      new FoldProcessor("log", tables, (p, folded) -> sought.add(folded), () -> begun++);
  private @Nullable MockProcessorContext<Void, Void> context;

  private ChainTable load(int partition, Uuid topicId, @Nullable Refusal before) {
    if (before != null) {
      refusals.add(before);
    }
    return new ChainTable(disk, state -> {}, offset -> explode(), complaints::add);
  }

  private void explode() {
    Throwable thrown = bomb;
    bomb = null;
    if (thrown instanceof RuntimeException runtime) {
      throw runtime;
    }
    if (thrown instanceof Error error) {
      throw error;
    }
  }

  @BeforeEach
  void begin() {
    makeTask();
  }

  @AfterEach
  void end() {
    store.close();
    tables.close();
    assertThat(complaints).isEmpty();
  }

  /** As Kafka Streams makes a task, or one again: the store until it has its table, then this. */
  private void makeTask() {
    Properties config = new Properties();
    config.put("application.id", "test");
    config.put("bootstrap.servers", "h:1");
    File state = dir.toFile();
    MockProcessorContext<Void, Void> made = new MockProcessorContext<>(config, TASK, state);
    made.addStateStore(store);
    await()
        .ignoreException(LockException.class)
        .until(
            () -> {
              store.init(made.getStateStoreContext(), store);
              return true;
            });
    processor.init(made);
    context = made;
  }

  private void makeTaskAgain() {
    processor.close();
    store.close();
    makeTask();
  }

  private void read(long offset) {
    read(offset, "v" + offset);
  }

  private void read(long offset, String value) {
    Objects.requireNonNull(context).setRecordMetadata("log", PARTITION, offset);
    processor.process(
        new Record<>(bytes("k"), value.getBytes(StandardCharsets.UTF_8), 1000 + offset));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private ChainTable.State state() {
    return ((ChainTable) Objects.requireNonNull(tables.at(PARTITION).inUse())).state();
  }

  private double doubts() {
    return metrics.counter("kvindex.log.doubts").count();
  }

  @Test
  void shouldFoldEachOnce_whenATaskIsMadeAgain() {
    read(0);
    read(1);
    makeTaskAgain();
    read(1);
    read(2);
    assertThat(sought).containsExactly(-1L, 1L);
    assertThat(begun).isEqualTo(2);
    assertThat(state().records()).isEqualTo(3);
    assertThat(state().offset()).isEqualTo(2);
  }

  @Test
  void shouldTellWhatIsMissing_whenTheFirstRecordIsFurtherBehind() {
    read(0);
    makeTaskAgain();
    read(5);
    assertThat(state().missed()).containsExactly("1-4");
    assertThat(metrics.counter("kvindex.log.records.missing").count()).isEqualTo(4);
    read(6);
    assertThat(state().records()).isEqualTo(3);
  }

  /** A hole in the log: the last one folded is there, those behind it are not. */
  @Test
  void shouldTellWhatIsMissing_whenItIsBehindTheRecordReadAgain() {
    read(0);
    makeTaskAgain();
    read(0);
    read(3);
    assertThat(state().missed()).containsExactly("1-2");
    assertThat(doubts()).isZero();
  }

  @Test
  void shouldReadAgain_whenARunningTaskSkipsRecords() {
    read(0);
    assertThatThrownBy(() -> read(3)).isInstanceOf(TaskCorruptedException.class);
    makeTaskAgain();
    assertThat(sought).containsExactly(-1L, 0L);
    read(0);
    read(1);
    assertThat(state().missed()).isEmpty();
    assertThat(state().offset()).isEqualTo(1);
    assertThat(refusals).isEmpty();
    assertThat(doubts()).isOne();
  }

  @Test
  void shouldReadAgain_whenARunningTaskGoesBack() {
    read(0);
    read(1);
    read(2);
    assertThatThrownBy(() -> read(1)).isInstanceOf(TaskCorruptedException.class);
    makeTaskAgain();
    read(2);
    read(3);
    assertThat(state().records()).isEqualTo(4);
    assertThat(refusals).isEmpty();
  }

  @Test
  void shouldRefuseTheTable_whenTheLogEndsBeforeIt() {
    read(0);
    read(1);
    makeTaskAgain();
    assertThatThrownBy(() -> read(0)).isInstanceOf(TaskCorruptedException.class);
    assertThat(tables.at(PARTITION).view()).isNull();
    assertThat(tables.at(PARTITION).state()).isEqualTo(TableState.FAILED);
    assertThat(tables.at(PARTITION).failure()).contains("folded up to 1").contains("read 0");
    makeTaskAgain();
    assertThat(refusals).hasSize(1);
    assertThat(refusals.get(0).cause()).isEqualTo(Refusal.Cause.LOG_LOST_END);
    assertThat(refusals.get(0).offset()).isEqualTo(1);
    assertThat(sought).endsWith(-1L);
    read(0);
    assertThat(state().records()).isOne();
  }

  @Test
  void shouldRefuseTheTable_whenAnotherRecordIsInThePlaceOfTheLast() {
    read(0);
    read(1);
    makeTaskAgain();
    assertThatThrownBy(() -> read(1, "another")).isInstanceOf(TaskCorruptedException.class);
    makeTaskAgain();
    assertThat(refusals).hasSize(1);
    assertThat(refusals.get(0).detail()).contains("another record");
    assertThat(metrics.counter("kvindex.tables.refused", "cause", "log_lost_end").count()).isOne();
  }

  @Test
  void shouldRefuseTheTable_whenAFoldFails() {
    read(0);
    bomb = new IllegalStateException("bomb");
    assertThatThrownBy(() -> read(1)).isInstanceOf(TaskCorruptedException.class);
    assertThat(tables.at(PARTITION).view()).isNull();
    makeTaskAgain();
    read(0);
    read(1);
    assertThat(state().records()).isEqualTo(2);
    assertThat(refusals).hasSize(1);
    assertThat(refusals.get(0).cause()).isEqualTo(Refusal.Cause.FOLD_FAILED);
    assertThat(refusals.get(0).offset()).isEqualTo(1);
  }

  @Test
  void shouldRefuseTheTableAndEndTheThread_whenAFoldEndsInAnError() {
    read(0);
    bomb = new StackOverflowError("bomb");
    assertThatThrownBy(() -> read(1)).isInstanceOf(StackOverflowError.class);
    assertThat(tables.at(PARTITION).view()).isNull();
    assertThat(tables.at(PARTITION).state()).isEqualTo(TableState.FAILED);
  }

  /** As the consumer hands it on. */
  private void readTraced(long offset, BatchTrace trace) {
    ConsumerRecord<byte[], byte[]> read =
        new ConsumerRecord<>("log", PARTITION, offset, bytes("k"), bytes("v" + offset));
    read.headers().add("fingerprint", new byte[8]).add(trace.header());
    TopicPartition partition = new TopicPartition("log", PARTITION);
    Stages.fetched(new ConsumerRecords<>(Map.of(partition, List.of(read)), Map.of()));
    Objects.requireNonNull(context).setRecordMetadata("log", PARTITION, offset);
    processor.process(new Record<>(read.key(), read.value(), 1000 + offset, read.headers()));
  }

  private Timer stage(String stage) {
    return metrics.get("kvindex.stage").tag("stage", stage).timer();
  }

  private double seconds(String stage) {
    return stage(stage).totalTime(TimeUnit.SECONDS);
  }

  @Test
  void shouldMeasureTheStagesOfARecord_whenItIsTraced() {
    read(0);
    long now = Clock.micros();
    readTraced(1, new BatchTrace(now - 3_000_000, now - 2_000_000, now - 1_000_000));
    assertThat(stage("visible").count()).as("it was produced before the task began").isZero();
    readTraced(2, new BatchTrace(now - 2_000_000, now, now));
    read(3);
    for (String one : List.of("fetch", "queue", "fold", "visible")) {
      assertThat(stage(one).count()).as(one).isOne();
    }
    assertThat(seconds("visible")).isBetween(2.0, 60.0);
    assertThat(seconds("fetch") + seconds("queue") + seconds("fold"))
        .isCloseTo(seconds("visible") - 2, within(1e-6));
    assertThat(state().records()).isEqualTo(4);
  }

  @Test
  void shouldMeasureNothing_whenTheOtherClockIsAheadOrTheTraceCanNotBeRead() {
    long ahead = Clock.micros() + 60_000_000;
    readTraced(0, new BatchTrace(ahead, ahead, ahead));
    assertThat(seconds("fetch")).isZero();
    assertThat(seconds("visible")).isZero();
    assertThat(stage("visible").count()).isOne();
    readTraced(1, new BatchTrace(ahead, ahead - 1, ahead));
    assertThat(stage("visible").count()).isOne();
    assertThat(state().records()).isEqualTo(2);
  }

  @Test
  void shouldEndTheTask_whenSomebodyElseRefusesItsTable() {
    read(0);
    var look = Objects.requireNonNull(context).scheduledPunctuators().get(0);
    look.getPunctuator().punctuate(0);
    Refusal why = new Refusal(Refusal.Cause.LOG_LOST_END, 0, "the topic is another one");
    tables.at(PARTITION).refuse(Objects.requireNonNull(tables.at(PARTITION).inUse()), why, null);
    assertThatThrownBy(() -> look.getPunctuator().punctuate(0))
        .isInstanceOf(TaskCorruptedException.class);
    makeTaskAgain();
    assertThat(look.cancelled()).isTrue();
    assertThat(refusals).containsExactly(why);
  }
}
