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
                      try {
                        slow.await();
                      } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                      }
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
  void shouldSayWhy_whenABatchWasNotWritten() {
    fill.write(
        () -> {
          throw new IllegalArgumentException("disk full");
        });
    assertThatThrownBy(fill::finish)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("disk full");
    fill.write(
        () -> {
          throw new OutOfMemoryError("no memory");
        });
    assertThatThrownBy(fill::finish).hasRootCauseInstanceOf(OutOfMemoryError.class);
    assertThatThrownBy(
            () -> {
              for (int i = 0; i < 100; i++) {
                fill.write(
                    () -> {
                      throw new IllegalArgumentException("again");
                    });
              }
            })
        .hasMessage("again");
  }
}
