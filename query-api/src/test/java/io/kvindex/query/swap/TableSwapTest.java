// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.swap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.remote.ServedTable;
import io.kvindex.query.remote.ServingIndex;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TableSwapTest {

  private static final TableId TABLE = new TableId("default", "m", 16, HashProfile.XXH3_DEFAULT);
  private static final PublisherId WHO = new PublisherId("e", "default", 0);
  private static final Duration LOOK = Duration.ofMillis(5);
  private static final Duration OVERLAP = Duration.ofMillis(20);
  private static final Duration COMPLAIN = Duration.ofMillis(50);
  private static final Duration CLOSE = Duration.ofMillis(100);

  private final ScriptedTable former = new ScriptedTable("kvindex");
  private final ScriptedTable next = new ScriptedTable("next").notReady("partition 3 is restoring");
  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final ServingIndex index = new ServingIndex(former.open());
  private TableSwap swap = swap(application -> next.open(), OVERLAP);

  private TableSwap swap(Function<String, ServedTable> opener, Duration overlap) {
    return swap(opener, overlap, Duration.ZERO);
  }

  private TableSwap swap(Function<String, ServedTable> opener, Duration overlap, Duration silence) {
    Pace pace = new Pace(LOOK, overlap, COMPLAIN, silence, CLOSE);
    return new TableSwap(index, opener, pace, metrics);
  }

  @AfterEach
  void close() {
    swap.close();
    index.table().close();
  }

  private double problems(String reason) {
    return metrics.counter("kvindex.table.swap.problems", "reason", reason).count();
  }

  @Test
  void shouldAnswerFromTheFormerTable_untilTheOtherIsReadyAndThenFromThatOne() {
    swap.start();
    swap.toServe("next");
    await().until(() -> problems("late") > 0);
    assertThat(index.serving()).isEqualTo("kvindex");
    assertThat(index.of("next")).as("others may ask for it already").isNotNull();
    assertThat(metrics.get("kvindex.table.beside").gauge().value()).isOne();

    next.notReady(null);
    await().until(() -> former.history.contains("deleted"));
    assertThat(index.serving()).isEqualTo("next");
    assertThat(index.blocks()).containsOnlyKeys(new PublisherId("next", "default", 0));
    assertThat(former.history).containsExactly("hidden", "closed", "deleted");
    assertThat(next.history).containsExactly("shown");
    assertThat(metrics.counter("kvindex.table.swaps").count()).isOne();
    await().until(() -> index.beside() == null);
    assertThat(index.of("kvindex")).isNull();
  }

  @Test
  void shouldKeepTheFormerTable_whileAnotherReplicaMayAnswerFromIt() {
    former.sharedWith("127.0.0.1:1");
    next.notReady(null);
    swap.start();
    swap.toServe("next");
    await().until(() -> problems("late") > 0);
    assertThat(index.serving()).isEqualTo("next");
    assertThat(index.of("kvindex")).isNotNull();
    assertThat(former.history).containsExactly("hidden");

    former.sharedWith();
    await().until(() -> former.history.contains("deleted"));
  }

  /** It stood still and goes on later, with the former table's group if that is there still. */
  @Test
  void shouldKeepTheFormerTable_whenItsGroupHasForgottenAReplicaMeanwhile() {
    former.sharedWith("127.0.0.1:1");
    swap = swap(application -> next.open(), OVERLAP, Duration.ofHours(1));
    swap.start();
    swap.toServe("next");
    await().until(() -> problems("late") > 0);
    former.sharedWith();
    next.notReady(null);
    await().until(() -> index.serving().equals("next"));
    double late = problems("late");
    await().until(() -> problems("late") > late);
    assertThat(index.of("kvindex")).isNotNull();
    assertThat(former.history).containsExactly("hidden");
  }

  @Test
  void shouldGoBack_whenTheFormerTableIsToServeAgain() {
    former.sharedWith("127.0.0.1:1");
    next.notReady(null);
    swap.start();
    swap.toServe("next");
    await().until(() -> index.serving().equals("next"));
    swap.toServe("kvindex");
    await().until(() -> next.history.contains("deleted"));
    assertThat(index.serving()).isEqualTo("kvindex");
    assertThat(former.history).containsExactly("hidden", "shown");
  }

  @Test
  void shouldTryAgain_whenTheTableCanNotBeOpened() {
    next.notReady(null);
    int[] failures = {3};
    swap =
        swap(
            application -> {
              switch (failures[0]--) {
                case 3 -> throw new IllegalStateException("no disk");
                case 2 -> throw new UnsatisfiedLinkError("no RocksDB here");
                case 1 -> throw new UncheckedIOException(new IOException("no disk again"));
                default -> {}
              }
              return next.open();
            },
            OVERLAP);
    swap.start();
    swap.toServe("next");
    await().until(() -> index.serving().equals("next"));
    assertThat(problems("not_started")).isEqualTo(3);
  }

  /** Replicas that answer from the second table keep the first until this one does, too. */
  @Test
  void shouldServeTheSecondTableFirst_whenAThirdIsToServeBeforeItIsWholeHere() {
    ScriptedTable third = new ScriptedTable("third").notReady("loading");
    next.sharedWith("127.0.0.1:1");
    swap = swap(application -> (application.equals("next") ? next : third).open(), OVERLAP);
    swap.start();
    swap.toServe("next");
    await().until(() -> index.beside() != null);
    swap.toServe("third");
    await().until(() -> problems("late") > 0);
    assertThat(next.history).isEmpty();

    next.notReady(null);
    await().until(() -> index.serving().equals("next"));
    third.notReady(null);
    await().until(() -> index.serving().equals("third"));
    assertThat(former.history).containsExactly("hidden", "closed", "deleted");
    assertThat(third.history).containsExactly("shown");
    next.sharedWith();
    await().until(() -> next.history.contains("deleted"));
  }

  @Test
  void shouldLeaveTheSecondTableOut_whenAThirdIsToServeAndNobodyAnswersFromIt() {
    ScriptedTable third = new ScriptedTable("third");
    swap = swap(application -> (application.equals("next") ? next : third).open(), OVERLAP);
    swap.start();
    swap.toServe("next");
    await().until(() -> index.beside() != null);
    swap.toServe("third");
    await().until(() -> index.serving().equals("third"));
    assertThat(next.history).containsExactly("closed", "deleted");
  }

  @Test
  void shouldCloseATable_whenItIsOpenOnlyAfterThisReplicaHasStopped() throws Exception {
    CountDownLatch opening = new CountDownLatch(1);
    CountDownLatch stopped = new CountDownLatch(1);
    swap =
        swap(
            application -> {
              opening.countDown();
              awaitQuietly(stopped);
              return next.open();
            },
            OVERLAP);
    swap.start();
    swap.toServe("next");
    opening.await();
    swap.close();
    stopped.countDown();
    await().until(() -> next.history.contains("closed"));
    assertThat(index.beside()).isNull();
  }

  /** Who waited for an event may read either table. */
  @Test
  void shouldShowAnEventOnlyOnceItIsInBoth_whileTheTablesChangePlaces() {
    former.showing(10);
    next.notReady(null).showing(7);
    swap = swap(application -> next.open(), Duration.ofSeconds(1));
    swap.start();
    assertThat(shown()).isEqualTo(10);
    swap.toServe("next");
    await().until(() -> shown() == 7);
    assertThat(index.serving()).isEqualTo("kvindex");
    await().until(() -> index.serving().equals("next"));
    next.showing(20);
    assertThat(shown()).isEqualTo(10);
    await().until(() -> shown() == 20);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private long shown() {
    return Objects.requireNonNull(index.position(TABLE, WHO)).sourceOffset();
  }
}
