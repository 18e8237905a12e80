// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How long do the blocks of a dead engine stay in the answers? Fills the index, then restarts one
 * publisher after the other and takes the time from the new one's first frame until a query finds
 * nothing of the old one any more.
 */
public final class FenceLoad {
  private static final int KEPT_BATCHES = 10_000;
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final long QUIET_POLL_NS = TimeUnit.SECONDS.toNanos(5);
  private static final long PROBE_NS = 100_000;
  private static final long LOST_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int UNHEARD = 5;

  private final String host;
  private final int port;
  private final int publishers;
  private final int resident;
  private final int window;
  private final int rounds;
  private int markers;

  private FenceLoad(LoadOptions options) {
    host = options.text("host", "127.0.0.1");
    port = options.number("port", 13333);
    options.number("pid", 0);
    publishers = options.number("publishers", 50);
    resident = options.number("resident", 1_000_000);
    window = options.number("window", 64);
    rounds = options.number("rounds", 4);
    options.refuseUnknown();
  }

  /** Options: see {@code benchmarks/README.md}. */
  public static void main(String[] args) throws Exception {
    new FenceLoad(new LoadOptions(args)).run();
  }

  private void run() throws IOException {
    try (VisibleSequences visible = new VisibleSequences(host, port, publishers, POLL_NS);
        Fleet fleet = new Fleet(publishers, KEPT_BATCHES, visible)) {
      fleet.join(host, port);
      fill(fleet);
      visible.every(QUIET_POLL_NS);
      try (ControlClient control = new ControlClient(host, port)) {
        Histogram told = new Histogram();
        Histogram asked = new Histogram();
        for (int round = 0; round < rounds; round++) {
          for (int i = 0; i < publishers; i++) {
            (round % 2 == 0 ? told : asked).record(restart(fleet, i, round % 2 == 0, control));
          }
        }
        say("sequence and time tell", told);
        say("the replay decides", asked);
      }
      fleet.leave(host, port);
    }
  }

  private void fill(Fleet fleet) {
    List<Churn> churns = new ArrayList<>();
    for (int i = 0; i < publishers; i++) {
      churns.add(new Churn(i, resident / publishers, null));
    }
    while (!churns.get(publishers - 1).full()) {
      for (int i = 0; i < publishers; i++) {
        fleet.awaitWindow(i, window);
        churns.get(i).step(fleet.get(i));
        fleet.get(i).serve();
      }
    }
    fleet.awaitAllVisible();
    System.out.printf(Locale.ROOT, "filled: %,d blocks, %d publishers%n", resident, publishers);
  }

  /** Nanoseconds from the first frame of the new engine until its predecessor is in no answer. */
  private long restart(Fleet fleet, int number, boolean told, ControlClient control)
      throws IOException {
    LoadPublisher publisher = fleet.get(number);
    Marker held = new Marker(++markers);
    publisher.publish(held.payload(), Marker.BLOCKS);
    await(fleet, held, number, Marker.TOKENS, control);
    long last = publisher.lastSequence();
    publisher.restart();
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2)); // the new process's clock is later
    // With its first numbers unheard its first frame is beyond the last one: only a hole is seen.
    while (!told && publisher.lastSequence() < last + UNHEARD) {
      publisher.publishUnheard(new Marker(++markers).payload());
    }
    long start = System.nanoTime();
    publisher.publish(new Marker(++markers).payload(), Marker.BLOCKS);
    await(fleet, held, number, 0, control);
    return System.nanoTime() - start;
  }

  private static void await(
      Fleet fleet, Marker marker, int number, int tokens, ControlClient control)
      throws IOException {
    long start = System.nanoTime();
    while (marker.tokensHeld(control, number) != tokens) {
      if (System.nanoTime() - start > LOST_NS) {
        throw new IllegalStateException("publisher " + number + " has not " + tokens + " tokens");
      }
      fleet.serve();
      LockSupport.parkNanos(PROBE_NS);
    }
  }

  private static void say(String how, Histogram times) {
    System.out.printf(
        Locale.ROOT,
        "%-23s p50 %.1f / p99 %.1f / max %.1f ms over %,d restarts%n",
        how,
        times.quantile(0.5) / 1e6,
        times.quantile(0.99) / 1e6,
        times.max() / 1e6,
        times.total());
  }
}
