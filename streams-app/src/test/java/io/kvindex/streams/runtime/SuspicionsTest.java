// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** An answer may come from a broker that has not heard the newest. */
class SuspicionsTest {

  private static final Refusal ENDS_AT_9 = new Refusal(Refusal.Cause.LOG_LOST_END, 9, "9 of 9");
  private static final Refusal ENDS_AT_8 = new Refusal(Refusal.Cause.LOG_LOST_END, 8, "8 of 9");

  private final LogWatch.Suspicions suspicions = new LogWatch.Suspicions(Duration.ofNanos(100));
  private final ChainTable table = table();

  private static ChainTable table() {
    return new ChainTable(ChainTable.State.EMPTY, state -> {}, offset -> {}, complaint -> {});
  }

  private boolean says(@Nullable Refusal why, long nowNs) {
    return suspicions.isConfirmed(0, table, why, nowNs);
  }

  @Test
  void shouldBelieve_whenTheSameIsSaidLongEnoughLater() {
    assertThat(says(ENDS_AT_9, 0)).isFalse();
    assertThat(says(ENDS_AT_9, 99)).isFalse();
    assertThat(says(ENDS_AT_9, 100)).isTrue();
  }

  @Test
  void shouldNotBelieve_whenItWasRightInBetween() {
    assertThat(says(ENDS_AT_9, 0)).isFalse();
    assertThat(says(null, 50)).isFalse();
    assertThat(says(ENDS_AT_9, 100)).isFalse();
    assertThat(says(ENDS_AT_9, 200)).isTrue();
  }

  @Test
  void shouldNotBelieve_whenSomethingElseIsSaid() {
    assertThat(says(ENDS_AT_9, 0)).isFalse();
    assertThat(says(ENDS_AT_8, 100)).isFalse();
    assertThat(says(ENDS_AT_8, 200)).isTrue();
  }

  @Test
  void shouldNotBelieve_whenItWasSaidOfAnotherTableOrPartition() {
    assertThat(says(ENDS_AT_9, 0)).isFalse();
    assertThat(suspicions.isConfirmed(1, table, ENDS_AT_9, 100)).isFalse();
    assertThat(suspicions.isConfirmed(0, table(), ENDS_AT_9, 100)).isFalse();
    assertThat(says(ENDS_AT_9, 200)).isFalse();
  }

  /** It was refused, and may be as large as the one that is loaded in its place. */
  @Test
  void shouldNotKeepATableInMemory_whenItIsSuspected() {
    WeakReference<ChainTable> suspected = new WeakReference<>(table());
    suspicions.isConfirmed(0, Objects.requireNonNull(suspected.get()), ENDS_AT_9, 0);
    await()
        .until(
            () -> {
              System.gc();
              return suspected.get() == null;
            });
  }
}
