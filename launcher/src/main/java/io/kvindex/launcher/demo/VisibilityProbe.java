// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures from outside how long an event takes from the engine's socket to the answers: takes one
 * published batch after the other and asks until it is visible. Batches published meanwhile are not
 * sampled.
 */
final class VisibilityProbe implements AutoCloseable {

  private static final long GIVE_UP_NS = TimeUnit.SECONDS.toNanos(10);

  /** Also the resolution of what is measured; asking more often would take what is measured. */
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(2);

  private record Sample(SimulatedEngine engine, long sequence, long publishedNs) {}

  private final BlockingQueue<Sample> next = new ArrayBlockingQueue<>(1);
  private final AtomicBoolean running = new AtomicBoolean(true);
  private final Latencies times = new Latencies();
  private final IndexClient index;
  private final Thread thread;

  VisibilityProbe(IndexClient index) {
    this.index = index;
    this.thread = new Thread(this::run, "visibility-probe");
    thread.start();
  }

  /** Offers the engine's newest batch; ignored while another is being measured. */
  void published(SimulatedEngine engine) {
    next.offer(new Sample(engine, engine.lastSequence(), System.nanoTime()));
  }

  Latencies times() {
    return times;
  }

  private void run() {
    try {
      while (running.get()) {
        Sample sample = next.poll(100, TimeUnit.MILLISECONDS);
        if (sample != null) {
          measure(sample);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      running.set(false); // the demo itself fails on the same server with a message of its own
    }
  }

  private void measure(Sample sample) throws IOException, InterruptedException {
    long deadlineNs = System.nanoTime() + GIVE_UP_NS;
    while (running.get() && System.nanoTime() < deadlineNs) {
      if (index.visibleSequence(sample.engine()) >= sample.sequence()) {
        times.add(System.nanoTime() - sample.publishedNs());
        return;
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }

  @Override
  public void close() throws InterruptedException {
    running.set(false);
    thread.join(TimeUnit.NANOSECONDS.toMillis(GIVE_UP_NS));
  }
}
