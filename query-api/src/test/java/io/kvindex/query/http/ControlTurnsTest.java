// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ControlTurnsTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final List<String> resumed = new ArrayList<>();

  @Test
  void shouldRunInTheOrderTheyCame_whenAllTurnsAreTaken() {
    try (ControlTurns turns = new ControlTurns(2, 3, LONG)) {
      assertThat(turns.tryTake()).isTrue();
      assertThat(turns.tryTake()).isTrue();
      assertThat(turns.tryTake()).isFalse();
      for (String name : List.of("a", "b", "c")) {
        assertThat(turns.await(come -> resumed.add(name + come))).isTrue();
      }
      assertThat(turns.await(come -> resumed.add("d"))).as("no room").isFalse();
      turns.done();
      turns.done();
      assertThat(resumed).containsExactly("atrue", "btrue");
      assertThat(turns.tryTake()).as("both places were handed over").isFalse();
      turns.done();
      turns.done();
      turns.done();
      assertThat(resumed).containsExactly("atrue", "btrue", "ctrue");
      assertThat(turns.await(come -> resumed.add("e" + come))).as("one is free").isTrue();
      assertThat(resumed).endsWith("etrue");
    }
  }

  @Test
  void shouldGiveUp_whenNoTurnComesInTime() throws InterruptedException {
    BlockingQueue<Boolean> outcome = new LinkedBlockingQueue<>();
    try (ControlTurns turns = new ControlTurns(1, 1, Duration.ofMillis(20))) {
      assertThat(turns.tryTake()).isTrue();
      assertThat(turns.await(outcome::add)).isTrue();
      assertThat(outcome.poll(20, TimeUnit.SECONDS)).isFalse();
      turns.done();
      assertThat(turns.tryTake()).as("the place was not given to who is gone").isTrue();
    }
    assertThat(outcome).isEmpty();
  }

  @Test
  void shouldRefuseAll_whenItIsClosed() {
    ControlTurns turns = new ControlTurns(1, 2, LONG);
    assertThat(turns.tryTake()).isTrue();
    assertThat(turns.await(come -> resumed.add("a" + come))).isTrue();
    turns.close();
    assertThat(resumed).containsExactly("afalse");
    assertThat(turns.await(come -> resumed.add("b"))).isFalse();
    turns.done();
    assertThat(turns.tryTake()).isFalse();
  }
}
