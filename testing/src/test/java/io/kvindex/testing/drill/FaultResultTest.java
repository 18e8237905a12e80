// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FaultResultTest {

  private static DrillOptions options(boolean tuned) {
    return new DrillOptions(
        Path.of("s"),
        Path.of("d"),
        1,
        Set.of(),
        1,
        new DrillOptions.Load(1, 1, 1, 10, 1_024, 10),
        1,
        tuned,
        false,
        false,
        0,
        null,
        false);
  }

  private static FaultResult result(long readyMs, long calmMs, long staleMs, Tally tally) {
    Fault fault = new Fault(Fault.Kind.INDEX, "index-1", 0);
    long peakNs = TimeUnit.MILLISECONDS.toNanos(staleMs);
    return new FaultResult(1, fault, 0, readyMs, calmMs, peakNs, List.of(), tally);
  }

  @Test
  void shouldKeepThePromise_whenRoutersNoticedNothing() {
    Tally tally = new Tally();
    for (int i = 0; i < 100; i++) {
      tally.latencies.add(TimeUnit.MILLISECONDS.toNanos(i == 0 ? 900 : 299));
    }
    tally.retried.set(50);
    assertThat(result(5_000, 9_000, 8_000, tally).isKept(options(false))).isTrue();
  }

  static Stream<Consumer<Tally>> shouldBreakIt_whenOneAnswerWasNotAsPromised() {
    return Stream.of(
        tally -> tally.failed.incrementAndGet(),
        tally -> tally.wrong.incrementAndGet(),
        tally -> tally.late.incrementAndGet(),
        tally -> tally.refused.incrementAndGet(),
        tally -> tally.latencies.add(TimeUnit.MILLISECONDS.toNanos(301)),
        tally -> tally.survivors.add(TimeUnit.MILLISECONDS.toNanos(101)));
  }

  @ParameterizedTest
  @MethodSource
  void shouldBreakIt_whenOneAnswerWasNotAsPromised(Consumer<Tally> bad) {
    Tally tally = new Tally();
    bad.accept(tally);
    assertThat(result(5_000, 9_000, 0, tally).isKept(options(false))).isFalse();
  }

  @Test
  void shouldBreakIt_whenALostIndexerMadeAnswersOfOthersOld() {
    assertThat(resultWithOldAnswersOf("index-1", Fault.Kind.INDEX).isKept(options(false))).isTrue();
    assertThat(resultWithOldAnswersOf("index-2", Fault.Kind.INDEX).isKept(options(false)))
        .isFalse();
    assertThat(resultWithOldAnswersOf("index-2", Fault.Kind.PAUSE).isKept(options(false)))
        .isFalse();
    assertThat(resultWithOldAnswersOf("index-2", Fault.Kind.BRIDGE).isKept(options(false)))
        .isTrue();
  }

  private static FaultResult resultWithOldAnswersOf(String replica, Fault.Kind kind) {
    long oldNs = TimeUnit.SECONDS.toNanos(2);
    return new FaultResult(
        1,
        new Fault(kind, "index-1", 0),
        0,
        5_000,
        9_000,
        oldNs,
        List.of(new Staleness.Window(replica, 0, oldNs, oldNs, "x")),
        new Tally());
  }

  @Test
  void shouldBreakIt_whenItWasNotReadyOrFreshInTime() {
    assertThat(result(-1, 9_000, 0, new Tally()).isKept(options(false))).isFalse();
    assertThat(result(5_000, -1, 0, new Tally()).isKept(options(false))).isFalse();
    assertThat(result(5_000, 9_000, 8_001, new Tally()).isKept(options(false))).isFalse();
    assertThat(result(5_000, 9_000, 4_001, new Tally()).isKept(options(true))).isFalse();
  }
}
