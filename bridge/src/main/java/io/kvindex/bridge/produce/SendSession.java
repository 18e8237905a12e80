// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import io.kvindex.model.event.EventRecord;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one follower sent since it last (re)started, and how far Kafka has acknowledged it without a
 * hole. The loop's thread adds, the producer's thread settles. A session that met a failure never
 * moves again; its follower goes back to {@link #acked()} with a new one.
 */
public final class SendSession {

  /**
   * A batch whose records are all acknowledged, as are all before it.
   *
   * @param sequence its sequence, unsigned
   * @param sourceMicros the engine's time of it
   * @param clears clears the publisher announced in its life up to there. It belongs to the batch,
   *     so that one that is sent again, here or by the next bridge, counts once
   * @param fingerprint of its payload, 0 = unknown
   */
  public record Acked(long sequence, long sourceMicros, long clears, long fingerprint) {}

  /** One batch on its way. Guarded by the session. */
  static final class Batch {
    final long sequence;
    final long sourceMicros;
    final long receivedMicros;
    final Map<String, Long> ids;
    final long clears;
    final long fingerprint;
    int openParts;

    /** Offset behind its last record, as far as Kafka has said. */
    long next;

    /** When its last record was given to the producer, 0 = it is not traced. */
    volatile long tracedMicros;

    /**
     * @param last its last record
     * @param receivedMicros when it was read from its socket
     * @param ids last number of the batch by stream
     * @param clears clears of the publisher in it
     * @param fingerprint of its payload
     * @param parts its records
     */
    Batch(
        EventRecord last,
        long receivedMicros,
        Map<String, Long> ids,
        long clears,
        long fingerprint,
        int parts) {
      this.sequence = last.position().eventId();
      this.sourceMicros = last.sourceTimeMicros();
      this.receivedMicros = receivedMicros;
      this.ids = ids;
      this.clears = clears;
      this.fingerprint = fingerprint;
      this.openParts = parts;
    }
  }

  private final Runnable onFailure;
  // Bounded by the send budget.
  private final Deque<Batch> inFlight = new ArrayDeque<>();
  private volatile @Nullable Acked acked;

  /** Before the first record in the log that {@link #acked} says nothing of, -1 = not known. */
  private long next;

  private volatile @Nullable Exception failure;

  /** Last number handed to the producer by stream; sender's thread only. */
  private final Map<String, Long> sentIds;

  /** Last number acknowledged by stream. Guarded by this. */
  private final Map<String, Long> ackedIds;

  /**
   * @param start what was acknowledged before, null = nothing
   * @param next offset in the log before which there is nothing that is sent from now on, -1 = not
   *     known
   * @param ids last numbers acknowledged before, by stream, where events have their own
   * @param onFailure told once, by the producer's thread, that the session is over
   */
  public SendSession(@Nullable Acked start, long next, Map<String, Long> ids, Runnable onFailure) {
    this.acked = start;
    this.next = next;
    this.sentIds = new HashMap<>(ids);
    this.ackedIds = new HashMap<>(ids);
    this.onFailure = onFailure;
  }

  /** Last number sent, by stream, in this life; the sender's thread alone reads and writes it. */
  public Map<String, Long> sentIds() {
    return sentIds;
  }

  /**
   * Last numbers acknowledged, by stream; empty where events have none. Asked for after {@link
   * #acked()} they are at least as new as that batch.
   */
  public synchronized Map<String, Long> ackedIds() {
    return Map.copyOf(ackedIds);
  }

  /** The last batch up to which everything is acknowledged, null = none. */
  public @Nullable Acked acked() {
    return acked;
  }

  /** Why the session is over, null while it goes on. */
  public @Nullable Exception failure() {
    return failure;
  }

  /** When the oldest batch on its way was read from its socket, 0 = none is on its way. */
  public synchronized long oldestUnackedMicros() {
    Batch oldest = inFlight.peekFirst();
    return oldest == null ? 0 : oldest.receivedMicros;
  }

  /** Whether everything sent is acknowledged, or nothing more will be. */
  public synchronized boolean isSettled() {
    return inFlight.isEmpty() || failure != null;
  }

  /** A batch is about to be sent. */
  synchronized void begin(Batch batch) {
    inFlight.addLast(batch);
  }

  /**
   * @param offset of the record, -1 = Kafka did not say
   * @return whether it was the last one of its batch that was missing
   */
  synchronized boolean partAcked(Batch batch, long offset) {
    batch.openParts--;
    batch.next = Math.max(batch.next, offset + 1);
    if (failure != null) {
      return false;
    }
    for (Batch first = inFlight.peekFirst();
        first != null && first.openParts == 0;
        first = inFlight.peekFirst()) {
      inFlight.removeFirst();
      ackedIds.putAll(first.ids);
      Acked before = acked;
      long clears = (before == null ? 0 : before.clears()) + first.clears;
      acked = new Acked(first.sequence, first.sourceMicros, clears, first.fingerprint);
      next = Math.max(next, first.next);
    }
    return batch.openParts == 0;
  }

  /**
   * Where in the log to read on for what {@link #acked()} says nothing of, -1 = not known. Asked
   * for before {@link #acked()} it is at most as new as that batch.
   */
  public synchronized long next() {
    return next;
  }

  /**
   * The log was seen to reach that far. If all that was sent is acknowledged, what follows comes
   * behind it: whoever takes over need not read what lies between.
   */
  public synchronized void logReaches(long end) {
    if (inFlight.isEmpty() && failure == null) {
      next = Math.max(next, end);
    }
  }

  void failed(Exception cause) {
    synchronized (this) {
      if (failure != null) {
        return;
      }
      failure = cause;
      inFlight.clear();
    }
    onFailure.run();
  }
}
