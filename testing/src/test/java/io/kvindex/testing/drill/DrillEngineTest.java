// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.testing.drill.Text.Kind;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DrillEngineTest {

  private static final Text PINNED = new Text(Kind.PINNED, 7, 0, 0);
  private static final Text CHAIN = new Text(Kind.MARKER, 7, 0, 1);

  /** Else every verdict of a drill would be worth nothing. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void shouldNoteWhatTheCacheHolds_whenItEvicts(int turns) {
    try (DrillEngine engine = new DrillEngine("e", 0, 7, 1_024, 100, 1)) {
      engine.pin(PINNED);
      Random random = new Random(5);
      int evicted = 0;
      for (int i = 0; i < 600; i++) {
        engine.step(random, turns);
        if (i % 10 == 0) {
          engine.mark(CHAIN);
        }
        engine.check();
        evicted += engine.all().stream().anyMatch(held -> held.now() == 0) ? 1 : 0;
      }
      assertThat(evicted).isPositive();
      assertThat(engine.blocks()).isBetween(900L, 1_024L);
      assertThat(Objects.requireNonNull(engine.held(PINNED)).now()).isEqualTo(DrillEngine.PINNED);
      assertThat(Objects.requireNonNull(engine.held(CHAIN)).now()).isEqualTo(60);
      assertThat(engine.operations()).isGreaterThan(16_000L * turns);
      assertThat(engine.lastSequence())
          .as("a batch each step, marker and pinned text")
          .isEqualTo(660);
    }
  }
}
