// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.sandbox.engine.Holdings;
import io.kvindex.sandbox.engine.Medium;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One life of an engine and, batch by batch, what it held of the prompts that are watched.
 * Thread-safe.
 */
final class EngineLife {

  private static final int WATCHED_OWN = 4;
  private static final int FIRST_BATCHES = 256;

  private final int number;
  private final List<Prompt> own;
  private final List<Prompt> watched = new ArrayList<>();
  private long[][] masks;
  private long[] sentNs = new long[FIRST_BATCHES];
  private int batches;
  private volatile long announcedNs;
  private volatile boolean seen;

  EngineLife(int number, List<Prompt> own, List<Prompt> sharedWatched) {
    this.number = number;
    this.own = own;
    watched.addAll(own.subList(0, WATCHED_OWN));
    watched.addAll(sharedWatched);
    masks = new long[watched.size()][FIRST_BATCHES];
  }

  int number() {
    return number;
  }

  /** Prompts only this life is given. */
  List<Prompt> own() {
    return own;
  }

  /** Those of them that are asked for during the run. */
  List<Prompt> watchedOwn() {
    return watched.subList(0, WATCHED_OWN);
  }

  /** A batch was sent: notes what is held behind it. */
  synchronized void record(SimulatedEngine engine) {
    if (batches == masks[0].length) {
      sentNs = Arrays.copyOf(sentNs, batches * 2);
      for (int i = 0; i < masks.length; i++) {
        masks[i] = Arrays.copyOf(masks[i], batches * 2);
      }
    }
    for (int i = 0; i < masks.length; i++) {
      Prompt prompt = watched.get(i);
      masks[i][batches] = mask(engine.holdings(prompt.tokens(), prompt.lora(), prompt.salt()));
    }
    sentNs[batches] = System.nanoTime();
    batches++;
  }

  /** When a batch was sent, {@link System#nanoTime}; 0 = it was not. */
  synchronized long sentNs(long batch) {
    return batch < 0 || batch >= batches ? 0 : sentNs[(int) batch];
  }

  private static long mask(Holdings holdings) {
    long mask = 0;
    for (int i = 0; i < holdings.blocks(); i++) {
      if (holdings.holds(Medium.GPU, i) || holdings.holds(Medium.HOST, i)) {
        mask |= 1L << i;
      }
    }
    return mask;
  }

  /**
   * Blocks of a prompt that were held at some time between two batches, both inclusive; bit i is
   * block i. 0 for a prompt that is not watched.
   */
  synchronized long held(Prompt prompt, long from, long to) {
    int i = watched.indexOf(prompt);
    if (i < 0) {
      return 0;
    }
    long all = 0;
    for (int at = (int) Math.max(0, from); at <= Math.min(to, batches - 1); at++) {
      all |= masks[i][at];
    }
    return all;
  }

  /** A batch of it was passed on to whoever listens. */
  void passedOn() {
    if (announcedNs == 0) {
      announcedNs = System.nanoTime();
    }
  }

  /** When its first batch was passed on, {@link System#nanoTime}; 0 = not yet. */
  long announcedNs() {
    return announcedNs;
  }

  /** An answer has shown a block of it. */
  void seen() {
    seen = true;
  }

  boolean isSeen() {
    return seen;
  }
}
