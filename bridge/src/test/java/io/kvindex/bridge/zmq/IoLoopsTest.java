// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.produce.SendBudget;
import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.model.PublisherId;
import io.kvindex.model.registration.Endpoint;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class IoLoopsTest {

  private static final int LOOPS = 4;
  private static final Duration SOON = Duration.ofSeconds(20);

  private final SendBudget budget = new SendBudget(1 << 20);

  @Test
  @Timeout(60)
  void shouldReadOthers_whenOnePublisherHoldsItsLoopUp() throws Exception {
    CountDownLatch goesOn = new CountDownLatch(1);
    try (FakeEngine slow = new FakeEngine(true);
        FakeEngine quick = new FakeEngine(true);
        Resolver resolver = new Resolver(Resolver.Lookup.SYSTEM);
        IoLoops loops = IoLoops.start(LOOPS, budget::gate, resolver)) {
      Reader blocked = new Reader(goesOn);
      Reader free = new Reader(new CountDownLatch(0));
      PublisherId first = publisher(0);
      IoLoop held = loops.of(first, slow.endpoint());
      PublisherId second = publisher(1);
      for (int i = 2; loops.of(second, quick.endpoint()) == held; i++) {
        second = publisher(i);
      }
      subscribe(held, slow, blocked);
      subscribe(loops.of(second, quick.endpoint()), quick, free);
      await().atMost(SOON).until(() -> isHeard(slow, blocked));
      for (int i = 0; i < 3; i++) {
        int before = free.read.get();
        await()
            .atMost(SOON)
            .until(
                () -> {
                  quick.publish(0, 0);
                  return free.read.get() > before;
                });
      }
      assertThat(blocked.read.get()).isEqualTo(1);
    } finally {
      goesOn.countDown();
    }
  }

  private static boolean isHeard(FakeEngine engine, Reader reader) {
    engine.publish(0, 0);
    return reader.read.get() > 0;
  }

  @Test
  void shouldKeepAPublisherOnItsLoop_andPublishersOfABoundPortTogether() throws Exception {
    try (Resolver resolver = new Resolver(Resolver.Lookup.SYSTEM);
        IoLoops loops = IoLoops.start(LOOPS, budget::gate, resolver)) {
      Set<IoLoop> used = new HashSet<>();
      Set<IoLoop> ofPort = new HashSet<>();
      for (int i = 0; i < 64; i++) {
        IoLoop loop = loops.of(publisher(i), "tcp://127.0.0.1:5557");
        used.add(loop);
        ofPort.add(loops.of(publisher(i), "tcp://*:5557"));
        assertThat(loops.of(publisher(i), "tcp://10.0.0.7:6000")).isSameAs(loop);
      }
      assertThat(used).hasSize(LOOPS);
      assertThat(ofPort).hasSize(1);
      assertThat(loops.isAlive()).isTrue();
    }
  }

  @Test
  void shouldEndAllThreads_whenClosed() throws Exception {
    try (Resolver resolver = new Resolver(Resolver.Lookup.SYSTEM)) {
      IoLoops loops = IoLoops.start(LOOPS, budget::gate, resolver);
      loops.close();
      assertThat(loops.isAlive()).isFalse();
    }
  }

  private static PublisherId publisher(int number) {
    return new PublisherId("engine-" + number, PublisherId.DEFAULT_TENANT, 0);
  }

  private static void subscribe(IoLoop loop, FakeEngine engine, Reader reader)
      throws InterruptedException {
    loop.execute(
        () ->
            loop.subscribe(Endpoint.parse(engine.endpoint()), "", 1_000, new NoListener(), reader));
  }

  /** Stands still in its first message until it may go on. */
  private static final class Reader implements IoLoop.Reader {
    final AtomicInteger read = new AtomicInteger();
    private final CountDownLatch goesOn;

    Reader(CountDownLatch goesOn) {
      this.goesOn = goesOn;
    }

    @Override
    public boolean wantsMessages() {
      return true;
    }

    @Override
    public void onMessage(List<byte[]> frames) {
      read.incrementAndGet();
      try {
        goesOn.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void onReopened() {}
  }
}
