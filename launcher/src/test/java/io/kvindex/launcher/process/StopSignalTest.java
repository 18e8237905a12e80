// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class StopSignalTest {

  private final ExecutorService worker = Executors.newSingleThreadExecutor();
  private final List<String> done = new CopyOnWriteArrayList<>();

  @AfterEach
  void stopWorker() {
    worker.shutdownNow();
  }

  @Test
  void shouldReturnWhenTheWorkerHasClosed_whateverItWasDoing() throws Exception {
    CompletableFuture<StopSignal> installed = new CompletableFuture<>();
    worker.execute(
        () -> {
          try (StopSignal stop = StopSignal.install()) {
            try {
              installed.complete(stop);
              stop.await();
            } catch (InterruptedException e) {
              done.add("interrupted");
            } finally {
              stop.closing();
              done.add("closed");
            }
          }
        });
    StopSignal signal = installed.get(20, TimeUnit.SECONDS);
    assertThat(signal.isAsked()).isFalse();
    signal.stop();
    assertThat(done).containsExactly("interrupted", "closed");
    assertThat(signal.isAsked()).isTrue();
  }

  @Test
  void shouldNotInterruptTheClosing() throws Exception {
    StopSignal signal = StopSignal.install();
    Thread.currentThread().interrupt();
    signal.closing();
    assertThat(Thread.currentThread().isInterrupted()).as("a former interrupt").isFalse();
    worker.execute(signal::stop);
    Awaitility.await().until(signal::isAsked);
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    signal.close();
  }
}
