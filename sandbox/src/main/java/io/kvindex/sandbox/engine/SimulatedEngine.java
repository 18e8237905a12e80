// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import io.kvindex.sandbox.engine.ReplayBuffer.Batch;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An inference engine without the inference: a prefix cache with vLLM's eviction that publishes its
 * KV events on PUB, replays them on ROUTER, and shows what it holds as an oracle.
 *
 * <p>One step of the scheduler = some {@link #prefill}s and one {@link #flush}. Requests run one
 * after the other; a finished request's blocks stay cached until evicted. Thread-safe.
 */
public final class SimulatedEngine implements AutoCloseable {
  private static final String ANY_PORT = "tcp://127.0.0.1:*";

  private final EngineOptions options;
  private final EventEncoder encoder;
  private EngineCache cache;
  private EventPublisher publisher;
  private EngineCounters counters = EngineCounters.zero();
  private long lastSequence = -1;
  private final AtomicLong replayLost = new AtomicLong();
  private final AtomicBoolean replaySilent = new AtomicBoolean();
  private boolean running = true;

  private SimulatedEngine(EngineOptions options) {
    this.options = options;
    this.encoder = new EventEncoder(options.dialect(), options.form);
    this.cache = new EngineCache(options);
    this.publisher = new EventPublisher(options, ANY_PORT, ANY_PORT, replayLost, replaySilent::get);
  }

  /** Binds free ports and starts the publisher's thread. */
  public static SimulatedEngine start(EngineOptions options) {
    return new SimulatedEngine(options);
  }

  /** What the engine was started with. */
  public EngineOptions options() {
    return options;
  }

  /** Where live events are published: {@code tcp://host:port}. Survives {@link #restart}. */
  public synchronized String endpoint() {
    return publisher.endpoint();
  }

  /** Where batches are replayed from: {@code tcp://host:port}. Survives {@link #restart}. */
  public synchronized String replayEndpoint() {
    return publisher.replayEndpoint();
  }

  /**
   * Runs one request: looks its prompt up, computes and caches the full blocks it lacks, evicts for
   * them. Events wait for the next {@link #flush}.
   *
   * @param tokens token ids, unsigned 32 bits each
   * @param lora adapter name, null = base model; SGLang's events cannot tell adapters apart
   * @param salt the request's cache salt, null = none
   */
  public synchronized Prefill prefill(int[] tokens, @Nullable String lora, @Nullable String salt) {
    if (lora != null && options.dialect() == EngineDialect.SGLANG) {
      throw new IllegalArgumentException("SGLang events name no adapter, got " + lora);
    }
    return cache.prefill(tokens, new CacheContext(lora, salt));
  }

  /** Resets the prefix cache; the next batch says so. */
  public synchronized void clear() {
    cache.clear();
  }

  /**
   * Ends the step: sends its events as one batch. Without events nothing is sent.
   *
   * @return whether there was a batch
   */
  public synchronized boolean flush() {
    return flush(true);
  }

  /** {@link #flush}, but the batch is lost on its way to subscribers: only a replay has it. */
  public synchronized boolean flushToReplayOnly() {
    return flush(false);
  }

  private boolean flush(boolean live) {
    if (!running) {
      throw new IllegalStateException("engine " + options.name() + " is closed");
    }
    List<EngineEvent> events = cache.takeEvents();
    if (events.isEmpty()) {
      return false;
    }
    Instant now = options.clock.instant();
    double seconds = now.getEpochSecond() + now.getNano() / 1e9;
    byte[] payload = encoder.encode(seconds, events, options.rank());
    publisher.publish(new Batch(++lastSequence, payload, live));
    counters = counters.plusBatch(!live);
    for (EngineEvent event : events) {
      counters = counters.plus(event);
    }
    return true;
  }

  /** Sequence of the last batch of this life; -1 = none yet. */
  public synchronized long lastSequence() {
    return lastSequence;
  }

  /** What was sent so far, over all lives. */
  public synchronized EngineCounters counters() {
    return counters;
  }

  /** Batches left out of replays on purpose, over all lives. */
  public long replayBatchesLost() {
    return replayLost.get();
  }

  /**
   * Whether requests for a replay get no answer at all, now or later, from now on; in later lives
   * as well. Live events go on.
   */
  public void silenceReplay(boolean is) {
    replaySilent.set(is);
  }

  /** What the cache holds of one prompt right now, flushed or not; no block hash is looked at. */
  public synchronized Holdings holdings(
      int[] tokens, @Nullable String lora, @Nullable String salt) {
    return cache.holdings(tokens, new CacheContext(lora, salt));
  }

  /**
   * Kills the process and starts another at the same ports: empty cache, sequence from 0, empty
   * replay buffer. Events not flushed are lost.
   */
  public synchronized void restart() {
    String pub = publisher.endpoint();
    String replay = publisher.replayEndpoint();
    if (running) {
      publisher.kill();
    }
    cache = new EngineCache(options);
    lastSequence = -1;
    publisher = new EventPublisher(options, pub, replay, replayLost, replaySilent::get);
    running = true;
  }

  /** Ends without a word: queued and unflushed events are lost. */
  public synchronized void kill() {
    if (running) {
      running = false;
      publisher.kill();
    }
  }

  /** Sends queued batches and closes; unflushed events are lost. */
  @Override
  public synchronized void close() {
    if (running) {
      running = false;
      publisher.close();
    }
  }
}
