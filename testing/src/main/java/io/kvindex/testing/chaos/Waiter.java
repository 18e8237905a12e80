// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits, while processes that were killed are started again and what was to end later ends. For the
 * director's thread.
 */
final class Waiter {

  /** Longest wait for anything that has to come. */
  static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(240);

  private static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private final OwnProcesses processes;
  private final Findings findings;

  // Bounded: by the steps of a plan that take effect within seconds.
  private final List<Due> later = new ArrayList<>();

  /** Something to do at that {@link System#nanoTime}. */
  private record Due(long atNs, Action action) {}

  /** Something to do. */
  interface Action {
    void run() throws InterruptedException;
  }

  /** Something that may fail because a process is down. */
  interface Call {
    void run() throws IOException, InterruptedException;
  }

  /** Something that is waited for. */
  interface Condition {
    boolean holds() throws InterruptedException;
  }

  Waiter(OwnProcesses processes, Findings findings) {
    this.processes = processes;
    this.findings = findings;
  }

  /** Does that after some time, while something is waited for. */
  void later(long delayNs, Action action) {
    later.add(new Due(System.nanoTime() + delayNs, action));
  }

  /** Waits until all our processes run and are ready, and nothing is to end later. */
  void awaitReady() throws InterruptedException {
    if (!await(() -> later.isEmpty() && processes.areReady(), PATIENCE_NS)) {
      findings.wrong("our processes are not ready after " + PATIENCE_NS / 1_000_000_000 + " s");
    }
  }

  /** A process that starts is killed as well as one that is ready, but not before it runs. */
  void awaitRunning() throws InterruptedException {
    if (!await(processes::areRunning, PATIENCE_NS)) {
      findings.wrong("the indexer is not ready after " + PATIENCE_NS / 1_000_000_000 + " s");
    }
  }

  /** Registers; again until it is done. */
  void register(ChaosEngine engine) throws InterruptedException {
    call(() -> processes.api().register(engine, false));
    engine.disturbed();
  }

  /** Calls; again until it is done. */
  void call(Call call) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NS;
    IOException last = new NoSuchFileException("never tried");
    while (System.nanoTime() - deadline < 0) {
      try {
        call.run();
        return;
      } catch (IOException e) {
        if (String.valueOf(e.getMessage()).contains("404")) {
          return; // done by a try whose answer got lost
        }
        last = e;
      }
      turn();
    }
    findings.wrong("a registration was not taken: " + last);
  }

  /** Lets time pass. */
  void pause(long ms) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
    await(() -> System.nanoTime() - until >= 0, PATIENCE_NS);
  }

  /** Waits for that; whether it came in time. */
  boolean await(Condition condition, long withinNs) throws InterruptedException {
    long deadline = System.nanoTime() + withinNs;
    while (!condition.holds()) {
      if (System.nanoTime() - deadline >= 0) {
        return false;
      }
      turn();
    }
    return true;
  }

  private void turn() throws InterruptedException {
    for (Due due : List.copyOf(later)) {
      if (System.nanoTime() - due.atNs() >= 0) {
        later.remove(due);
        due.action().run();
      }
    }
    processes.turn();
    LockSupport.parkNanos(TURN_NS);
  }
}
