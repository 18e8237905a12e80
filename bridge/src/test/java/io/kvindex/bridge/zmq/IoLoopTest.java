// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.model.registration.Endpoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class IoLoopTest {

  private static final int ENGINES = 4;

  @Test
  @Timeout(60)
  void shouldReadAllOthers_whenSubscriptionsGoAndCome() throws InterruptedException {
    List<FakeEngine> engines = new ArrayList<>();
    List<Counted> readers = new ArrayList<>();
    try (Resolver resolver = new Resolver(Resolver.Lookup.SYSTEM);
        IoLoop loop = new IoLoop(new OpenGate(), resolver)) {
      for (int i = 0; i < ENGINES; i++) {
        FakeEngine engine = new FakeEngine(true);
        engines.add(engine);
        readers.add(new Counted());
        subscribe(loop, engine, readers.get(i));
      }
      for (int gone = 0; gone < ENGINES; gone++) {
        Counted reader = readers.get(gone);
        loop.execute(() -> loop.unsubscribe(reader));
        subscribe(loop, engines.get(gone), reader);
        for (int i = 0; i < ENGINES; i++) {
          awaitHeard(engines.get(i), readers.get(i)); // while all others are quiet
        }
      }
    } finally {
      for (FakeEngine engine : engines) {
        engine.close();
      }
    }
  }

  private static void awaitHeard(FakeEngine engine, Counted reader) {
    reader.read.set(0);
    await()
        .atMost(Duration.ofSeconds(10))
        .until(
            () -> {
              engine.publish(0, 0);
              return reader.read.get() > 0;
            });
  }

  private static void subscribe(IoLoop loop, FakeEngine engine, Counted reader)
      throws InterruptedException {
    loop.execute(
        () ->
            loop.subscribe(Endpoint.parse(engine.endpoint()), "", 1_000, new NoListener(), reader));
  }

  private static final class Counted implements IoLoop.Reader {
    final AtomicInteger read = new AtomicInteger();

    @Override
    public boolean wantsMessages() {
      return true;
    }

    @Override
    public void onMessage(List<byte[]> frames) {
      read.incrementAndGet();
    }

    @Override
    public void onReopened() {}
  }

  private static final class OpenGate implements IoLoop.Gate {
    @Override
    public boolean hasRoom() {
      return true;
    }

    @Override
    public boolean isClosed() {
      return false;
    }

    @Override
    public boolean tryReopen() {
      return true;
    }
  }
}
