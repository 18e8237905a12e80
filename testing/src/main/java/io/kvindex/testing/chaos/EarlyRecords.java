// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.launcher.e2e.Faults;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.KafkaException;

/** Has records written ahead of their turn. For the director's thread. */
final class EarlyRecords {

  private static final long SHORT_NS = TimeUnit.SECONDS.toNanos(4);
  private static final int TRIES = 10;

  private final ChaosEngine engine;
  private final OwnProcesses processes;
  private final Waiter waiter;
  private final Journal journal;
  private int written;

  /**
   * @param engine records are its
   */
  EarlyRecords(ChaosEngine engine, OwnProcesses processes, Waiter waiter, Journal journal) {
    this.engine = engine;
    this.processes = processes;
    this.waiter = waiter;
    this.journal = journal;
  }

  /** While the engine's live events are withheld a record of them is written ahead of its turn. */
  void write() throws InterruptedException {
    engine.pause(true);
    engine.proxy().faults(Faults.NONE);
    try (EarlyRecord writer = new EarlyRecord(processes.kafka())) {
      engine.mark();
      if (waiter.await(this::isVisible, SHORT_NS)) {
        engine.proxy().withhold();
        long last = engine.lastSequence();
        engine.mark();
        engine.mark();
        waiter.await(() -> engine.proxy().waiting().size() >= 2, SHORT_NS);
        List<byte[]> second = engine.proxy().waiting().get(1);
        if (writer.write(engine, last, second.get(second.size() - 1))) {
          written++;
        }
      }
    } catch (KafkaException | ExecutionException e) {
      journal.say("no early record: " + e);
    } finally {
      engine.proxy().release();
      engine.proxy().faults(ChaosEngine.FAULTS);
      engine.pause(false);
    }
  }

  /** The same until it succeeds, a few times; whether it did. */
  boolean writeForSure() throws InterruptedException {
    int before = written;
    for (int i = 0; i < TRIES && written == before; i++) {
      write();
    }
    return written > before;
  }

  /** Records that really came ahead of their turn. */
  int count() {
    return written;
  }

  private boolean isVisible() throws InterruptedException {
    try {
      return processes.api().visible().getOrDefault(engine.name(), -1L) == engine.lastSequence();
    } catch (IOException e) {
      return false;
    }
  }
}
