// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.zmq.IoLoop;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SendBudgetTest {

  @Test
  void shouldReopenEachLoopsGate_onceHalfOfItIsFree() {
    SendBudget budget = new SendBudget(100);
    IoLoop.Gate first = budget.gate();
    IoLoop.Gate second = budget.gate();
    AtomicInteger toldFirst = new AtomicInteger();
    AtomicInteger toldSecond = new AtomicInteger();
    first.onReopening(toldFirst::incrementAndGet);
    second.onReopening(toldSecond::incrementAndGet);

    budget.take(100);
    assertThat(first.hasRoom()).isFalse();
    assertThat(first.isClosed()).isTrue();
    assertThat(second.isClosed()).as("its loop has not asked yet").isFalse();

    budget.give(40);
    assertThat(second.hasRoom()).as("others would keep the first one waiting").isFalse();
    assertThat(second.isClosed()).isTrue();
    assertThat(first.tryReopen()).isFalse();
    assertThat(toldFirst).hasValue(0);

    budget.give(10);
    assertThat(toldFirst).hasValue(1);
    assertThat(toldSecond).hasValue(1);
    assertThat(first.tryReopen()).isTrue();
    assertThat(first.isClosed()).isFalse();
    budget.take(40);
    assertThat(first.hasRoom()).isTrue();
    assertThat(second.isClosed()).as("each loop goes on by itself").isTrue();
    assertThat(second.tryReopen()).as("nor does the first one keep others waiting").isTrue();
    assertThat(second.hasRoom()).isTrue();
    budget.give(40);

    budget.give(50);
    assertThat(toldFirst).as("open gates are left alone").hasValue(1);
    assertThat(budget.inFlightBytes()).isZero();
  }
}
