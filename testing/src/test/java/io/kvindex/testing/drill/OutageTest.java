// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutageTest {

  private static Tally asked() {
    Tally tally = new Tally();
    tally.queries.set(100);
    return tally;
  }

  private static Outage.Result result(
      long equalMs, Tally tally, List<String> unequal, List<String> problems) {
    return new Outage.Result(
        300,
        20,
        List.of(),
        List.of(),
        equalMs,
        tally,
        new RoundCheck.Result(1, 4, 2, 100, 50, unequal),
        problems);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 10_000})
  void shouldKeepThePromise_whenNothingFailedAndAllIsEqualSoon(long equalMs) {
    Tally tally = asked();
    tally.saidStale.set(50);
    tally.retried.set(5);
    assertThat(result(equalMs, tally, List.of(), List.of()).isKept()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 10_001})
  void shouldBreakIt_whenTablesAreBehindForTooLong(long equalMs) {
    assertThat(result(equalMs, asked(), List.of(), List.of()).isKept()).isFalse();
  }

  @Test
  void shouldBreakIt_whenAQueryFailedOrSomethingDiffers() {
    Tally failed = asked();
    failed.failed.incrementAndGet();
    assertThat(result(1, failed, List.of(), List.of()).isKept()).isFalse();
    assertThat(result(1, asked(), List.of("digests differ"), List.of()).isKept()).isFalse();
    assertThat(result(1, asked(), List.of(), List.of("drill-1 is not named")).isKept()).isFalse();
  }

  @Test
  void shouldBreakIt_whenNothingWasAsked() {
    assertThat(result(1, new Tally(), List.of(), List.of()).isKept()).isFalse();
  }

  @Test
  void shouldPromiseNoTime_whereEnginesSentMoreThanTheyCanSendAgain() {
    Outage.Result late = result(60_000, asked(), List.of(), List.of());
    assertThat(late.isKept()).isFalse();
    assertThat(withTooFast(late, List.of("drill-1")).isKept()).isTrue();
    Outage.Result never = result(-1, asked(), List.of(), List.of());
    assertThat(withTooFast(never, List.of("drill-1")).isKept()).isFalse();
  }

  private static Outage.Result withTooFast(Outage.Result of, List<String> tooFast) {
    return new Outage.Result(
        of.seconds(),
        of.fastest(),
        tooFast,
        List.of(),
        of.equalMs(),
        of.tally(),
        of.check(),
        of.problems());
  }
}
