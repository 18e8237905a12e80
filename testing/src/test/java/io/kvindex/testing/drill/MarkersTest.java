// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MarkersTest {

  private final DrillEngine one = Drills.engine("one");
  private final DrillEngine two = Drills.engine("two");
  private final DrillEngine three = Drills.engine("three");
  private final List<Table> tables =
      List.of(new Table(0, "a", List.of(one, two)), new Table(1, "b", List.of(three)));
  private final Semaphore gate = new Semaphore(1);
  private final Markers markers = new Markers(tables, gate, Drills.RUN);

  @AfterEach
  void close() {
    tables.forEach(table -> table.engines().forEach(DrillEngine::close));
  }

  private void run(int times) {
    for (int i = 0; i < times; i++) {
      markers.run();
    }
  }

  private static int held(DrillEngine engine, MarkerChain chain) {
    Held held = engine.held(chain.question().text());
    return held == null ? 0 : held.now();
  }

  private MarkerChain chain(int table, int number) {
    return markers.chains().get(table).get(number);
  }

  @Test
  void shouldMarkEachTableEachTime_itsEnginesInTurn() {
    run(5);
    assertThat(held(one, chain(0, 0))).isEqualTo(3);
    assertThat(held(two, chain(0, 0))).isEqualTo(2);
    assertThat(held(three, chain(1, 0))).isEqualTo(5);
    assertThat(gate.availablePermits()).isEqualTo(1);
  }

  @Test
  void shouldBeginAnotherChain_whenAnEngineHasHadAllOfOne() {
    run(MarkerChain.LENGTH);
    assertThat(markers.chains()).extracting(List::size).containsExactly(1, 1);
    run(1);
    assertThat(markers.chains()).extracting(List::size).containsExactly(1, 2);
    assertThat(held(three, chain(1, 0))).isEqualTo(MarkerChain.LENGTH);
    assertThat(held(three, chain(1, 1))).as("none is left out").isEqualTo(1);
    assertThat(chain(1, 1).question().text()).isNotEqualTo(chain(1, 0).question().text());
  }

  @Test
  void shouldForgetTheOldestChain_whenThereAreMany() {
    MarkerChain oldest = chain(1, 0);
    run(Markers.KEPT * MarkerChain.LENGTH);
    assertThat(markers.chains().get(1)).hasSize(Markers.KEPT).startsWith(oldest);
    MarkerChain last = chain(1, Markers.KEPT - 1);
    run(1);
    assertThat(markers.chains().get(1)).hasSize(Markers.KEPT).doesNotContain(oldest);
    assertThat(chain(1, Markers.KEPT - 2)).isSameAs(last);
  }

  @Test
  void shouldSayNothing_whileTheGateIsClosed() throws Exception {
    gate.acquire();
    CompletableFuture<Void> run = CompletableFuture.runAsync(markers);
    assertThatThrownBy(() -> run.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    assertThat(one.lastSequence()).isEqualTo(-1);
    gate.release();
    run.get(30, TimeUnit.SECONDS);
    assertThat(Objects.requireNonNull(one.held(chain(0, 0).question().text())).now()).isEqualTo(1);
  }
}
