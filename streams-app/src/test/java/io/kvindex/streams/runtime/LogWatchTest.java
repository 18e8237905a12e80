// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.internals.KafkaFutureImpl;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Looks by hand, with no timer, at a log of one partition that was folded up to offset 9. */
class LogWatchTest {

  private static final Uuid TOPIC = new Uuid(1, 2);
  private static final Uuid ANOTHER = new Uuid(1, 3);
  private static final String NAME = "log";

  // ---- what Kafka says

  private Uuid id = TOPIC;
  private @Nullable Long end = 10L;
  private long start;
  private int askedForId;
  private Runnable whileAsked = () -> {};

  private final LogTopic topic = new LogTopic(admin(), NAME);
  private final ProcessTables tables =
      new ProcessTables(
          1, 1, () -> TOPIC, (p, of, before) -> table(), new SimpleMeterRegistry(), Duration.ZERO);
  private LogWatch watch = watch(Duration.ZERO);

  private LogWatch watch(Duration again) {
    return new LogWatch(topic, tables, Duration.ofHours(1), Duration.ofHours(1), again);
  }

  private static ChainTable table() {
    ChainTable table =
        new ChainTable(ChainTable.State.EMPTY, state -> {}, offset -> {}, complaint -> {});
    fold(table, 9);
    return table;
  }

  private static void fold(ChainTable table, long upTo) {
    LongStream.rangeClosed(table.foldedOffset() + 1, upTo)
        .forEach(offset -> table.fold(offset, 0, null, null, offset));
  }

  private Admin admin() {
    InvocationHandler answers =
        (proxy, method, args) ->
            switch (method.getName()) {
              case "describeTopics" -> describe();
              case "listOffsets" -> offsets((Map<?, ?>) args[0]);
              case "close" -> null;
              default -> throw new UnsupportedOperationException(method.toString());
            };
    return (Admin)
        Proxy.newProxyInstance(Admin.class.getClassLoader(), new Class<?>[] {Admin.class}, answers);
  }

  private DescribeTopicsResult describe() {
    askedForId++;
    TopicDescription topic = new TopicDescription(NAME, false, List.of(), null, id);
    return new Described(Map.of(NAME, KafkaFuture.completedFuture(topic)));
  }

  /** Its constructor is for heirs only. */
  private static final class Described extends DescribeTopicsResult {
    Described(Map<String, KafkaFuture<TopicDescription>> topics) {
      super(null, topics);
    }
  }

  private ListOffsetsResult offsets(Map<?, ?> questions) {
    whileAsked.run();
    Map<TopicPartition, KafkaFuture<ListOffsetsResultInfo>> answers = new HashMap<>();
    questions.forEach(
        (partition, which) -> {
          KafkaFutureImpl<ListOffsetsResultInfo> answer = new KafkaFutureImpl<>();
          Long offset = which instanceof OffsetSpec.EarliestSpec ? Long.valueOf(start) : end;
          if (offset == null) {
            answer.completeExceptionally(new TimeoutException("nobody leads it"));
          } else {
            answer.complete(new ListOffsetsResultInfo(offset, -1, Optional.empty()));
          }
          answers.put((TopicPartition) partition, answer);
        });
    return new ListOffsetsResult(answers);
  }

  private ChainTable inUse() {
    return (ChainTable) Objects.requireNonNull(tables.at(0).inUse());
  }

  private PartitionBacklog.Found backlog() {
    return watch.backlog(0);
  }

  @BeforeEach
  void load() throws Exception {
    tables.loadAll().get(10, TimeUnit.SECONDS);
  }

  @AfterEach
  void close() {
    watch.close();
    tables.close();
    topic.close();
  }

  // ------------------------------------------------------------------- how far tables are behind

  @Test
  void shouldMeasureWhatIsNotFolded_asTheTableGoesOn() {
    end = 15L;
    assertThat(watch.refresh()).isTrue();
    assertThat(backlog().records()).isEqualTo(5);
    assertThat(backlog().caughtUp()).isFalse();
    fold(inUse(), 12);
    assertThat(watch.refresh()).isTrue();
    assertThat(backlog().records()).isEqualTo(2);
    assertThat(backlog().done()).isEqualTo(3);
    assertThat(backlog().total()).isEqualTo(5);
    fold(inUse(), 14);
    assertThat(watch.refresh()).isTrue();
    assertThat(backlog().records()).isZero();
    assertThat(backlog().caughtUp()).isTrue();
    assertThat(watch.refresh()).as("nothing is new").isFalse();
    end = 16L;
    assertThat(watch.refresh()).as("a record came").isTrue();
    assertThat(backlog().records()).isOne();
  }

  @Test
  void shouldNotWaitForRecordsThatRetentionTook_whenATableStandsStill() {
    end = 20L;
    start = 13;
    watch.refresh();
    assertThat(backlog().records()).isEqualTo(10);
    assertThat(watch.refresh()).as("it has to go on").isTrue();
    assertThat(backlog().records()).isEqualTo(7);
    start = 25; // asked for later than the end
    watch.refresh();
    assertThat(backlog().records()).isZero();
  }

  @Test
  void shouldMeasureAnew_whenTheTableIsAnother() throws Exception {
    end = 15L;
    watch.refresh();
    tables.at(0).refuse(inUse(), new Refusal(Refusal.Cause.FOLD_FAILED, 10, "it breaks off"), null);
    assertThat(watch.refresh()).as("one is to come").isTrue();
    assertThat(backlog().records()).isEqualTo(PartitionBacklog.UNKNOWN);
    tables.loadAll().get(10, TimeUnit.SECONDS);
    watch.refresh();
    assertThat(backlog().records()).isEqualTo(5);
    assertThat(backlog().done()).isZero();
  }

  @Test
  void shouldKeepWhatWasMeasured_whileKafkaDoesNotSay() {
    end = 15L;
    watch.refresh();
    end = null;
    assertThat(watch.refresh()).isFalse();
    assertThat(backlog().records()).isEqualTo(5);
    assertThat(tables.at(0).state()).isEqualTo(TableState.READY);
  }

  // ------------------------------------------------------------------- whose log it is

  @Test
  void shouldRefuseATable_whenTheLogIsSaidTwiceToEndBeforeIt() {
    end = 9L;
    watch.refresh();
    assertThat(tables.at(0).state()).as("said once").isEqualTo(TableState.READY);
    watch.refresh();
    assertThat(tables.at(0).state()).isEqualTo(TableState.FAILED);
    assertThat(tables.at(0).failure()).isEqualTo("the log was folded up to 9 and ends before 9");
  }

  @Test
  void shouldKeepATable_whenTheSameIsSaidTooSoon() {
    watch.close();
    watch = watch(Duration.ofHours(1));
    end = 9L;
    watch.refresh();
    watch.refresh();
    assertThat(tables.at(0).state()).isEqualTo(TableState.READY);
  }

  @Test
  void shouldKeepATable_whenItWasFoldedInBetween() {
    end = 9L;
    watch.refresh();
    fold(inUse(), 10);
    watch.refresh();
    assertThat(tables.at(0).state()).isEqualTo(TableState.READY);
  }

  /** The answer is older than the table, and says nothing against it. */
  @Test
  void shouldKeepATable_whenItIsFoldedFurtherWhileKafkaIsAsked() {
    whileAsked = () -> fold(inUse(), 11);
    watch.refresh();
    whileAsked = () -> {};
    end = 12L;
    watch.refresh();
    assertThat(tables.at(0).state()).isEqualTo(TableState.READY);
    assertThat(askedForId).as("there was no doubt").isOne();
  }

  @Test
  void shouldRefuseATable_whenATaskBeginsOnATopicMadeAnew() {
    watch.refresh();
    id = ANOTHER;
    end = 30L;
    watch.refresh();
    watch.refresh();
    assertThat(askedForId).as("with the first look, and no more").isOne();
    watch.taskBegins();
    watch.refresh();
    assertThat(tables.at(0).state()).as("said once").isEqualTo(TableState.READY);
    watch.refresh();
    assertThat(askedForId).as("again after a bad answer").isEqualTo(3);
    assertThat(tables.at(0).state()).isEqualTo(TableState.FAILED);
    assertThat(tables.at(0).failure())
        .isEqualTo(
            "the topic was deleted and created again: it is " + ANOTHER + " and was " + TOPIC);
  }

  @Test
  void shouldAskWhichTopicItIs_whenKafkaIsBack() {
    watch.refresh();
    end = null;
    watch.refresh();
    assertThat(askedForId).isOne();
    id = ANOTHER;
    end = 30L;
    watch.refresh();
    watch.refresh();
    assertThat(tables.at(0).state()).isEqualTo(TableState.FAILED);
  }

  @Test
  void shouldAskWhichTopicItIs_onceItsIdIsOld() {
    watch.close();
    watch = new LogWatch(topic, tables, Duration.ofHours(1), Duration.ZERO, Duration.ZERO);
    watch.refresh();
    watch.refresh();
    assertThat(askedForId).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({
    // whether the table is of this topic, last folded, log's end, first offset lost
    "true, -1, 0,",
    "true, -1, 7,",
    "true, 9, 10,",
    "true, 9, 11,",
    "true, 9, 9, 9",
    "true, 9, 3, 3",
    "true, 9, 0, 0",
    "true, 0, 0, 0",
    "true, 9, ,",
    "false, 9, 10, 0",
    "false, 9, 3, 0",
    "false, -1, 0, 0",
    "false, 9, , 0",
    ", 9, 10,",
    ", 9, 9, 9",
  })
  void shouldObject_whenTheLogIsNotTheTables(
      @Nullable Boolean same, long folded, @Nullable Long logEnd, @Nullable Long lostFrom) {
    Uuid of = same == null ? null : same ? TOPIC : ANOTHER;
    Refusal why = LogWatch.objection(of, TOPIC, folded, logEnd);
    if (lostFrom == null) {
      assertThat(why).isNull();
    } else {
      assertThat(why)
          .extracting(Refusal::cause, Refusal::offset)
          .containsExactly(Refusal.Cause.LOG_LOST_END, lostFrom);
    }
  }
}
