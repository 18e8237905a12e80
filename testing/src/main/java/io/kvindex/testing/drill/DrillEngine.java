// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import io.kvindex.sandbox.engine.EngineCounters;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.Holdings;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A simulated engine and what it held at which time. Conversations grow by turns until the oldest
 * is evicted; which one that is follows from the order of use, so only the oldest has to be looked
 * at after each batch. Thread-safe: who has an answer that shows a batch waits until the batch is
 * noted.
 */
final class DrillEngine implements AutoCloseable {

  /** Blocks a turn adds. */
  static final int TURN = 16;

  /** Turns of a conversation. */
  static final int TURNS = 3;

  /** Blocks of a text that is held all the time. */
  static final int PINNED = 24;

  /** vLLM keeps so many times as many batches for who does not read as for who asks again. */
  private static final int UNREAD_PER_REPLAYED = 10;

  private static final int MOST_UNREAD = 100_000;

  private static final int OPEN = 4;
  private static final int REMEMBERED = 512;

  private final int number;
  private final int run;
  private final SimulatedEngine engine;
  private final Deque<Held> open = new ArrayDeque<>();
  private final Deque<Held> pinned = new ArrayDeque<>();

  /** What is held, least recently used first. */
  private final Map<Text, Held> resident = new LinkedHashMap<>(64, 0.75f, true);

  /** Conversations, held or not, of which questions are asked; the newest one is the last. */
  private final List<Held> remembered = new ArrayList<>();

  private final Map<Text, Held> known = new HashMap<>();
  private int conversations;

  DrillEngine(String name, int number, int run, int blocks, int replayBatches, long seed) {
    this.number = number;
    this.run = run;
    this.engine =
        EngineOptions.vllm(name)
            .gpuBlocks(blocks)
            .replayBatches(replayBatches)
            .liveHighWaterMark(
                (int) Math.min(UNREAD_PER_REPLAYED * (long) replayBatches, MOST_UNREAD))
            .seed(seed)
            .start();
  }

  private EngineOptions options() {
    return engine.options();
  }

  String name() {
    return options().name();
  }

  String endpoint() {
    return engine.endpoint();
  }

  String replayEndpoint() {
    return engine.replayEndpoint();
  }

  /** Caches a text and uses it again and again from now on. */
  synchronized void pin(Text text) {
    Held held = know(text);
    pinned.add(held);
    publish(() -> Map.of(held, prefill(held, PINNED)));
  }

  /**
   * Runs a step of the engine, whose events are one batch: turns of some conversations.
   *
   * @param turns how many, at least 1
   */
  synchronized void step(Random random, int turns) {
    Held oldest = pinned.poll();
    if (oldest != null) {
      pinned.add(oldest);
      use(oldest);
    }
    publish(
        () -> {
          Map<Held, Integer> grown = new LinkedHashMap<>();
          for (int i = 0; i < turns; i++) {
            turn(random, grown);
          }
          return grown;
        });
  }

  /**
   * @param grown blocks of what has become longer in this step
   */
  private void turn(Random random, Map<Held, Integer> grown) {
    Held held = open.size() < OPEN || random.nextInt(OPEN) == 0 ? begin() : open.removeFirst();
    int blocks = grown.getOrDefault(held, held.now()) + TURN;
    grown.put(held, prefill(held, blocks));
    if (blocks < TURN * TURNS) {
      open.addLast(held);
    }
    if (open.size() > OPEN) {
      open.removeFirst();
    }
  }

  private Held begin() {
    Held held = know(new Text(Text.Kind.CONVERSATION, run, number, ++conversations));
    remembered.add(held);
    if (remembered.size() > REMEMBERED) {
      forget(remembered.remove(0));
    }
    return held;
  }

  /** What is still held is forgotten when it is evicted. */
  private void forget(Held held) {
    if (held.now() == 0) {
      known.remove(held.text());
    }
  }

  /** Makes a text longer by a block; when that was sent. */
  synchronized long mark(Text chain) {
    Held held = know(chain);
    publish(() -> Map.of(held, prefill(held, held.now() + 1)));
    return System.nanoTime();
  }

  private Held know(Text text) {
    return known.computeIfAbsent(text, Held::new);
  }

  /** Reads it again: nothing is stored, it only becomes the one used last. */
  private void use(Held held) {
    engine.prefill(held.text().tokens(held.now()), null, null);
    resident.put(held.text(), held);
  }

  /** Computes what is not cached; how many blocks it has then. */
  private int prefill(Held held, int blocks) {
    engine.prefill(held.text().tokens(blocks), null, null);
    resident.put(held.text(), held);
    return blocks;
  }

  /** Sends what comes of some work as one batch, and notes what is held from then on. */
  private void publish(Supplier<Map<Held, Integer>> work) {
    long beforeNs = System.nanoTime();
    Map<Held, Integer> grown = work.get();
    engine.flush();
    long afterNs = System.nanoTime();
    grown.forEach((held, blocks) -> held.change(beforeNs, afterNs, blocks));
    noteEvicted(beforeNs, afterNs);
  }

  private void noteEvicted(long beforeNs, long afterNs) {
    for (Iterator<Held> oldest = resident.values().iterator(); oldest.hasNext(); ) {
      Held held = oldest.next();
      int now = actual(held);
      if (now == held.now()) {
        return;
      }
      held.change(beforeNs, afterNs, now);
      if (now > 0) {
        return;
      }
      oldest.remove();
      if (!remembered.contains(held)) {
        known.remove(held.text());
      }
    }
  }

  private int actual(Held held) {
    Text text = held.text();
    Holdings holdings = engine.holdings(text.tokens(Math.max(1, held.now())), null, null);
    return holdings.longestMatched() / Text.BLOCK;
  }

  /** Some conversation of the last ones, held or evicted; null = there is none yet. */
  synchronized @Nullable Held any(Random random) {
    return remembered.isEmpty() ? null : remembered.get(random.nextInt(remembered.size()));
  }

  /** Some conversation used lately; null = there is none yet. */
  synchronized @Nullable Held recent(Random random) {
    int last = Math.min(32, remembered.size());
    return last == 0 ? null : remembered.get(remembered.size() - 1 - random.nextInt(last));
  }

  /** What was held of a text, null = it was never sent to this engine, or long ago. */
  synchronized @Nullable Held held(Text text) {
    return known.get(text);
  }

  /** All that it holds or held not long ago. */
  synchronized Collection<Held> all() {
    return List.copyOf(known.values());
  }

  /** Blocks it holds; only while nothing is sent. */
  synchronized long blocks() {
    return resident.values().stream().mapToLong(Held::now).sum();
  }

  /**
   * Compares what was noted with the cache itself.
   *
   * @throws IllegalStateException if the drill's own book-keeping is wrong
   */
  synchronized void check() {
    for (Held held : known.values()) {
      if (actual(held) != held.now()) {
        throw new IllegalStateException(
            "BUG in the drill: " + name() + " holds " + actual(held) + ", noted " + held.now());
      }
    }
  }

  synchronized long lastSequence() {
    return engine.lastSequence();
  }

  /** Blocks stored and removed so far. */
  long operations() {
    EngineCounters counters = engine.counters();
    return counters.gpuBlocksStored() + counters.gpuBlocksRemoved();
  }

  @Override
  public void close() {
    engine.close();
  }
}
