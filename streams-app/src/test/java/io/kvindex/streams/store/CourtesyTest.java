// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CourtesyTest {

  private static final long MS = 1_000_000;

  private final List<Long> pausesMs = new ArrayList<>();
  private double load;
  private long nowNs = -5;
  private final Courtesy courtesy =
      new Courtesy(
          () -> load,
          () -> nowNs,
          waitNs -> {
            pausesMs.add(waitNs / MS);
            nowNs += waitNs;
          });

  private void batch(long workMs) {
    nowNs += workMs * MS;
    courtesy.giveWay();
  }

  @Test
  void shouldNotWait_whenTheMachineHasTime() {
    load = 0.8;
    for (int i = 0; i < 100; i++) {
      batch(20);
    }
    assertThat(pausesMs).isEmpty();
  }

  @Test
  void shouldWaitAsLongAsItWorks_whenTheMachineIsBusy() {
    load = 0.9;
    batch(10);
    batch(20);
    batch(1);
    assertThat(pausesMs).containsExactly(10L, 20L, 1L);
  }

  @Test
  void shouldNotWaitLongAtATime() {
    load = 1;
    batch(10_000);
    assertThat(pausesMs).containsExactly(50L);
  }

  @Test
  void shouldGoByTheLoadOfAQuarterOfASecond() {
    load = 1;
    batch(10);
    load = 0;
    batch(10);
    assertThat(pausesMs).as("looked at 10 ms before").hasSize(2);
    batch(250);
    batch(10);
    assertThat(pausesMs).hasSize(2);
  }

  @Test
  void shouldNotWait_whenTheLoadIsNotKnown() {
    load = -1;
    batch(10);
    assertThat(pausesMs).isEmpty();
  }

  /** The real one: whatever the machine does, it comes to an end. */
  @Test
  void shouldGoOn_whateverThisMachineDoes() {
    Courtesy real = new Courtesy();
    for (int i = 0; i < 20; i++) {
      real.giveWay();
    }
  }
}
