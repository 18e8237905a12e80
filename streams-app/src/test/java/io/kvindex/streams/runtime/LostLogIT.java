// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.broker.SharedBroker;
import io.kvindex.streams.view.PartitionView;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.streams.query.FailureReason;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.StateQueryRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The log loses its beginning, its end or all of itself, while a process is down or runs. */
@Timeout(60)
class LostLogIT {

  private static final int BEFORE = 100;

  @TempDir private Path dir;
  private final TestLog log = new TestLog(7);
  private TestProcess process;

  @BeforeEach
  void process() {
    process = new TestProcess("one", SharedBroker.unique("copy"), log, dir, 8);
  }

  @AfterEach
  void close() throws Exception {
    process.close();
    log.close();
    assertThat(process.complaints).isEmpty();
  }

  /** A process that has folded the log, and is down. */
  private void foldAndStop() throws Exception {
    log.append(BEFORE);
    process.startLoaded(1);
    untilAllIsFolded();
    process.close();
    process.disk.values().forEach(s -> assertThat(s.offset()).isEqualTo(BEFORE - 1));
  }

  private void untilAllIsFolded() throws Exception {
    long[] lasts = log.lasts();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              for (int p = 0; p < lasts.length; p++) {
                if (process.folded(p) != lasts[p]) {
                  return false;
                }
              }
              return true;
            });
  }

  /** As it is there now, on top of what was there before. */
  private void assertIsAPlainFold(List<ChainTable.State> before) throws Exception {
    List<List<ConsumerRecord<byte[], byte[]>>> records = log.read();
    for (int p = 0; p < TestLog.PARTITIONS; p++) {
      assertThat(process.state(p))
          .isEqualTo(TestLog.fold(before.get(p), records.get(p), Long.MAX_VALUE));
    }
  }

  private void assertBuiltAnew(int lostEnds) throws Exception {
    untilAllIsFolded();
    assertIsAPlainFold(
        List.of(
            ChainTable.State.EMPTY,
            ChainTable.State.EMPTY,
            ChainTable.State.EMPTY,
            ChainTable.State.EMPTY));
    assertThat(process.refused(Refusal.Cause.LOG_LOST_END)).isEqualTo(lostEnds);
    assertThat(process.refused(Refusal.Cause.FOLD_FAILED)).isZero();
  }

  @Test
  void shouldTellWhatIsMissing_whenTheLogWasCutBehindTheTable() throws Exception {
    foldAndStop();
    List<ChainTable.State> before = List.copyOf(process.disk.values());
    log.append(100);
    log.deleteBefore(150);
    process.replace();
    process.startLoaded(1);
    untilAllIsFolded();
    assertIsAPlainFold(before.stream().map(s -> s.missing(100, 149)).toList());
    assertThat(process.metrics.counter("kvindex.log.records.missing").count()).isEqualTo(200);
    assertThat(process.refusals).isEmpty();
  }

  @Test
  void shouldMissNothing_whenTheLogWasCutUpToWhatIsFolded() throws Exception {
    foldAndStop();
    List<ChainTable.State> before = List.copyOf(process.disk.values());
    log.deleteBefore(BEFORE);
    process.replace();
    process.startLoaded(1);
    await().until(() -> process.tables().at(3).isFollowed());
    log.append(10);
    untilAllIsFolded();
    assertIsAPlainFold(before);
    assertThat(process.refusals).isEmpty();
  }

  @Test
  void shouldBeginWhereTheLogBegins_whenNothingWasFolded() throws Exception {
    log.append(100);
    log.deleteBefore(50);
    process.startLoaded(2);
    untilAllIsFolded();
    ChainTable.State begun = ChainTable.State.EMPTY.missing(0, 49);
    assertIsAPlainFold(List.of(begun, begun, begun, begun));
    assertThat(process.metrics.counter("kvindex.log.records.missing").count()).isZero();
  }

  @Test
  void shouldBuildAnew_whenTheTopicWasMadeAnewAndIsLonger() throws Exception {
    foldAndStop();
    log.recreate(BEFORE * 3);
    process.replace();
    process.startLoaded(1);
    assertBuiltAnew(4);
  }

  @Test
  void shouldBuildAnew_whenTheTopicWasMadeAnewAndIsShorter() throws Exception {
    foldAndStop();
    log.recreate(BEFORE / 2);
    process.replace();
    process.startLoaded(1);
    assertBuiltAnew(4);
  }

  /** No record tells: of an empty log none comes. */
  @Test
  void shouldBuildAnew_whenTheTopicWasMadeAnewAndIsEmpty() throws Exception {
    foldAndStop();
    log.recreate(0);
    process.replace();
    process.startLoaded(1);
    await().until(() -> process.refused(Refusal.Cause.LOG_LOST_END) == 4);
    log.append(10);
    assertBuiltAnew(4);
  }

  /** No record tells: reading begins at the log's end. */
  @Test
  void shouldGoBack_whenExactlyTheLastRecordIsLost() throws Exception {
    foldAndStop();
    ChainTable.State before = process.disk.get(0);
    process.disk.computeIfPresent(0, (p, s) -> s.plus(BEFORE, null, null, 1));
    process.replace();
    process.startLoaded(1);
    await().until(() -> process.refused(Refusal.Cause.LOG_LOST_END) == 1);
    assertThat(process.refusals)
        .allSatisfy(
            refusal -> {
              assertThat(refusal.offset()).isEqualTo(BEFORE);
              assertThat(refusal.detail()).contains("ends before 100");
            });
    untilAllIsFolded();
    assertThat(process.state(0)).isEqualTo(before);
  }

  /** No record tells: nothing is read while the topic is made anew and grows past the place. */
  @Test
  void shouldBuildAnew_whenTheTopicIsMadeAnewWhileTheThreadStandsStill() throws Exception {
    CountDownLatch stands = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    process.hook =
        (partition, offset) -> {
          if (partition == 0 && offset == BEFORE) {
            stands.countDown();
            awaitOrThrow(goesOn);
          }
        };
    log.append(BEFORE);
    process.startLoaded(1);
    untilAllIsFolded();
    log.append(1);
    awaitOrThrow(stands);
    process.hook = (partition, offset) -> {};
    log.recreate(BEFORE * 3);
    goesOn.countDown();
    await().until(() -> process.refused(Refusal.Cause.LOG_LOST_END) == 4);
    assertBuiltAnew(4);
    assertThat(process.refusals).allMatch(refusal -> refusal.offset() == 0);
  }

  private static void awaitOrThrow(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldAnswerFromTheTable_throughInteractiveQueries() throws Exception {
    log.append(10);
    process.startLoaded(1);
    untilAllIsFolded();
    StateQueryRequest<PartitionView> request =
        StateQueryRequest.inStore(TableTopology.STORE)
            .withQuery(new TableViewQuery())
            .withPositionBound(
                PositionBound.at(Position.emptyPosition().withComponent(log.topic, 2, 9)));
    QueryResult<PartitionView> answer = answer(request, 2);
    assertThat(answer.getResult()).isSameAs(process.tables().at(2).view());
    assertThat(answer.getPosition().getPartitionPositions(log.topic)).containsEntry(2, 9L);
    StateQueryRequest<PartitionView> tooEarly =
        request.withPositionBound(
            PositionBound.at(Position.emptyPosition().withComponent(log.topic, 2, 10)));
    assertThat(answer(tooEarly, 2).getFailureReason()).isEqualTo(FailureReason.NOT_UP_TO_BOUND);
    assertThat(answer(tooEarly, 1).isSuccess()).isTrue();
  }

  private QueryResult<PartitionView> answer(
      StateQueryRequest<PartitionView> request, int partition) {
    return Objects.requireNonNull(
        process.streams().query(request).getPartitionResults().get(partition));
  }

  /** Nothing may stand still for a table that is on its way. */
  @Test
  void shouldFoldOthersMeanwhile_whenATableIsLoadedSlowly() throws Exception {
    CountDownLatch goesOn = new CountDownLatch(1);
    log.append(10);
    process.loadHook =
        partition -> {
          if (partition == 1) {
            awaitOrThrow(goesOn);
          }
        };
    process.start(1);
    await().until(() -> process.folded(0) == 9 && process.folded(2) == 9 && process.folded(3) == 9);
    log.append(10);
    await().until(() -> process.folded(0) == 19);
    assertThat(process.tables().at(1).state()).isEqualTo(TableState.LOADING);
    assertThat(process.tables().at(1).view()).isNull();
    goesOn.countDown();
    untilAllIsFolded();
  }

  @Test
  void shouldBuildAnew_whenTheTopicIsMadeAnewWhileItIsRead() throws Exception {
    // Kafka Streams may find the topic gone and end the thread; its successor waits for the
    // session.
    process.site.put("consumer.session.timeout.ms", 1_000);
    // The newest checkpoint is of the last record. Were it older, and a record of the new log the
    // first to tell, it would be loaded and refused once more.
    log.append(ChainTable.CHECKPOINT_EVERY + 1);
    process.startLoaded(1);
    untilAllIsFolded();
    log.recreate(BEFORE * 3);
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> process.refused(Refusal.Cause.LOG_LOST_END) == 4);
    assertBuiltAnew(4);
    System.out.println("threads that died: " + process.deadThreads);
  }
}
