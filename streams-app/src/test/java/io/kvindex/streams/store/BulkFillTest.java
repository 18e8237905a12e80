// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BulkFillTest {

  private final BulkFill fill = new BulkFill(0);
  private final List<Integer> written = new CopyOnWriteArrayList<>();

  @Test
  void shouldHaveWrittenAllInOrder_whenFinished() {
    for (int i = 0; i < 1_000; i++) {
      int batch = i;
      fill.write(() -> written.add(batch));
    }
    fill.finish();
    assertThat(written).isEqualTo(IntStream.range(0, 1_000).boxed().toList());
    fill.finish();
  }

  @Test
  void shouldWait_whenTooManyAreNotWritten() throws ExecutionException, InterruptedException {
    CountDownLatch slow = new CountDownLatch(1);
    CompletableFuture<Void> reader =
        CompletableFuture.runAsync(
            () -> {
              for (int i = 0; i < 100; i++) {
                int batch = i;
                fill.write(
                    () -> {
                      await(slow);
                      written.add(batch);
                    });
              }
              fill.finish();
            });
    assertThatThrownBy(() -> reader.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    assertThat(written).isEmpty();
    slow.countDown();
    reader.get();
    assertThat(written).hasSize(100);
  }

  /** Who goes on would write an offset that is not true. */
  @Test
  void shouldSayWhyEachTime_whenABatchWasNotWritten() {
    fill.write(
        () -> {
          throw new IllegalArgumentException("disk full");
        });
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(fill::finish)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("disk full");
    }
    assertThatThrownBy(() -> fill.write(() -> written.add(1))).hasMessage("disk full");
    assertThat(written).isEmpty();
  }

  /** Each would be another failure of the disk's, and rows would lack those between. */
  @Test
  void shouldWriteNoneAfterOneThatFailed_whenTheyWaitedAlready() throws InterruptedException {
    CountDownLatch slow = new CountDownLatch(1);
    fill.write(
        () -> {
          await(slow);
          throw new OutOfMemoryError("no memory");
        });
    fill.write(() -> written.add(1));
    slow.countDown();
    assertThatThrownBy(fill::finish).hasRootCauseInstanceOf(OutOfMemoryError.class);
    assertThat(written).isEmpty();
  }

  @Test
  void shouldWaitToTheEnd_whenWhoWaitsIsInterrupted() {
    CountDownLatch slow = new CountDownLatch(1);
    fill.write(
        () -> {
          await(slow);
          written.add(1);
        });
    Thread.currentThread().interrupt();
    CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS).execute(slow::countDown);
    fill.finish();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(written).containsExactly(1);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
