// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.http.ScratchPool.Scratch;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What is large is bounded in number; what is small is not kept out by it. */
class ScratchPoolTest {
  private static final int LARGE = Scratch.KEPT + 1;

  private final ScratchPool pool = new ScratchPool(256, 16);

  private Scratch lent() {
    return Objects.requireNonNull(pool.lend());
  }

  @Test
  void shouldHoldSmallAnswersAndLargeBodies_whenAllLargeAnswersAreTaken() {
    List<Scratch> holders = new ArrayList<>();
    for (int i = 0; i < ScratchPool.MAX_LARGE_ANSWERS; i++) {
      Scratch holder = lent();
      assertThat(pool.mayAnswer(holder, LARGE)).isTrue();
      assertThat(pool.mayAnswer(holder, LARGE)).as("it has its permit").isTrue();
      holders.add(holder);
    }
    Scratch more = lent();
    assertThat(pool.mayAnswer(more, LARGE)).isFalse();
    assertThat(pool.mayAnswer(more, Scratch.KEPT)).isTrue();
    assertThat(pool.mayHold(more, LARGE)).isTrue();
    pool.giveBack(holders.get(0));
    assertThat(pool.mayAnswer(more, LARGE)).isTrue();
  }

  @Test
  void shouldGiveBackWhatItTook_whenLargeOnesCameAndWent() {
    for (int i = 0; i < 2 * ScratchPool.MAX_LARGE_ANSWERS; i++) {
      Scratch scratch = lent();
      assertThat(pool.mayHold(scratch, LARGE)).isTrue();
      assertThat(pool.mayAnswer(scratch, LARGE)).isTrue();
      pool.giveBack(scratch);
    }
    for (int i = 0; i < ScratchPool.MAX_LARGE; i++) {
      assertThat(pool.mayHold(lent(), LARGE)).isTrue();
    }
    assertThat(pool.mayHold(lent(), LARGE)).isFalse();
  }
}
