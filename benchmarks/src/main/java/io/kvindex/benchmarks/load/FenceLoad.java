// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * How long do blocks that are gone stay in the answers? Fills the index, then restarts or clears
 * one publisher after the other and takes the time from the first frame that tells until a query
 * finds nothing of the old blocks any more. Publishers are filled again ten by ten, so that the
 * index never has less than four fifths of its size.
 */
public final class FenceLoad {
  private static final int KEPT_BATCHES = 10_000;
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final long QUIET_POLL_NS = TimeUnit.SECONDS.toNanos(5);
  private static final long PROBE_NS = 100_000;
  private static final long LOST_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int UNHEARD = 5;
  private static final long SLOW_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Publishers measured before they are filled again. */
  private static final int GROUP = 10;

  private final String host;
  private final int port;
  private final int publishers;
  private final int resident;
  private final int window;
  private final int warmUp;
  private final int rounds;
  private final List<Kind> kinds;
  private int markers;

  private FenceLoad(LoadOptions options) {
    host = options.text("host", "127.0.0.1");
    port = options.number("port", 13333);
    options.number("pid", 0);
    publishers = options.number("publishers", 50);
    resident = options.number("resident", 1_250_000);
    window = options.number("window", 256);
    warmUp = options.number("warm-up-rounds", 1);
    rounds = options.number("rounds", 2);
    kinds = Kind.of(options.text("kind", "all"));
    options.refuseUnknown();
  }

  /** Options: see {@code benchmarks/README.md}. */
  public static void main(String[] args) throws Exception {
    new FenceLoad(new LoadOptions(args)).run();
  }

  private enum Kind {
    TOLD("sequence and time tell"),
    ASKED("the replay decides"),
    CLEARED("all blocks cleared");

    private final String text;
    private final Histogram times = new Histogram();

    Kind(String text) {
      this.text = text;
    }

    static List<Kind> of(String name) {
      return name.equals("all")
          ? List.of(values())
          : List.of(valueOf(name.toUpperCase(Locale.ROOT)));
    }
  }

  private void run() throws IOException {
    try (VisibleSequences visible = new VisibleSequences(host, port, publishers, POLL_NS);
        Fleet fleet = new Fleet(publishers, KEPT_BATCHES, visible)) {
      fleet.join(host, port);
      fill(fleet, 0, publishers);
      System.out.printf(Locale.ROOT, "filled: %,d blocks, %d publishers%n", resident, publishers);
      for (int round = -warmUp; round < rounds; round++) {
        for (Kind kind : kinds) {
          long start = System.nanoTime();
          for (int from = 0; from < publishers; from += GROUP) {
            int to = Math.min(publishers, from + GROUP);
            visible.every(QUIET_POLL_NS);
            measure(kind, fleet, from, to, round >= 0);
            visible.every(POLL_NS);
            fill(fleet, from, to);
          }
          System.out.printf(
              Locale.ROOT,
              "round %d, %s: %.1f s with all publishers filled again%n",
              round,
              kind.text,
              (System.nanoTime() - start) / 1e9);
        }
      }
      for (Kind kind : kinds) {
        say(kind.text, kind.times);
      }
      fleet.leave(host, port);
    }
  }

  private void measure(Kind kind, Fleet fleet, int from, int to, boolean counts)
      throws IOException {
    // A connection for each group: it would be idle too long while the publishers are filled.
    try (ControlClient control = new ControlClient(host, port)) {
      for (int i = from; i < to; i++) {
        long nanos =
            kind == Kind.CLEARED
                ? clear(fleet, i, control)
                : restart(fleet, i, kind == Kind.TOLD, control);
        if (counts) {
          kind.times.record(nanos);
        }
        if (nanos > SLOW_NS) { // the server's log tells why
          System.out.printf(
              Locale.ROOT, "%s: publisher %d took %.1f ms%n", Instant.now(), i, nanos / 1e6);
        }
      }
    }
  }

  /** Each of some publishers stores its share of the blocks; then nothing is under way. */
  private void fill(Fleet fleet, int from, int to) {
    List<Churn> churns = new ArrayList<>();
    for (int i = from; i < to; i++) {
      churns.add(new Churn(i, resident / publishers, null));
    }
    for (boolean full = false; !full; ) {
      full = true;
      for (int i = from; i < to; i++) {
        Churn churn = churns.get(i - from);
        if (!churn.full()) {
          full = false;
          fleet.awaitWindow(i, window);
          churn.step(fleet.get(i));
        }
      }
      fleet.serve();
    }
    for (int i = from; i < to; i++) {
      fleet.awaitWindow(i, 1);
    }
  }

  /** Nanoseconds from the frame of a clear until the publisher is in no answer. */
  private long clear(Fleet fleet, int number, ControlClient control) throws IOException {
    LoadPublisher publisher = fleet.get(number);
    Marker held = new Marker(++markers);
    publisher.publish(held.payload(), Marker.BLOCKS);
    await(fleet, held, number, Marker.TOKENS, control);
    BatchWriter writer = new BatchWriter();
    writer.begin(System.currentTimeMillis() / 1e3, 1);
    writer.cleared();
    long start = System.nanoTime();
    publisher.publish(writer.end(), 0);
    await(fleet, held, number, 0, control);
    return System.nanoTime() - start;
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
    Marker first = new Marker(++markers);
    publisher.publish(first.payload(), Marker.BLOCKS);
    await(fleet, held, number, 0, control);
    long took = System.nanoTime() - start;
    // One engine at a time: the next would wait behind this one's replay, thousands of batches.
    await(fleet, first, number, Marker.TOKENS, control);
    return took;
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
        "%-23s p50 %.1f / p99 %.1f / max %.1f ms over %,d times%n",
        how,
        times.quantile(0.5) / 1e6,
        times.quantile(0.99) / 1e6,
        times.max() / 1e6,
        times.total());
  }
}
