// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryBodyParser;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The in-flight limit and the reuse of buffers in one: who gets no scratch is turned away. The
 * newest one is lent first, because its arrays are still in the cache. Thread-safe.
 */
final class ScratchPool {
  /**
   * Most bodies beyond {@link Scratch#KEPT} held at a time, batches whatever their length and other
   * replicas' questions among them: bounds memory, not requests.
   */
  static final int MAX_LARGE = 16;

  /**
   * Most answers to other replicas beyond {@link Scratch#KEPT} held at a time: as many as one of
   * them asks for at a time. Permits of their own, since clients' bodies may be slow to come and a
   * question that is refused here is a client refused there.
   */
  static final int MAX_LARGE_ANSWERS = 32;

  private final Semaphore large = new Semaphore(MAX_LARGE);
  private final Semaphore largeAnswers = new Semaphore(MAX_LARGE_ANSWERS);
  private final ConcurrentLinkedDeque<Scratch> idle = new ConcurrentLinkedDeque<>();
  private final AtomicInteger lent = new AtomicInteger();
  private final int limit;
  private final int maxItems;

  ScratchPool(int limit, int maxItems) {
    this.limit = limit;
    this.maxItems = maxItems;
  }

  /** A cleared scratch, null when the limit is reached. */
  @Nullable Scratch lend() {
    if (lent.incrementAndGet() > limit) {
      lent.decrementAndGet();
      return null;
    }
    Scratch scratch = idle.pollFirst();
    return scratch == null ? new Scratch(maxItems) : scratch;
  }

  /** Whether a scratch may grow to a body of that length. */
  boolean mayHold(Scratch scratch, int bytes) {
    if (bytes <= Scratch.KEPT || scratch.large) {
      return true;
    }
    scratch.large = large.tryAcquire();
    return scratch.large;
  }

  /** Whether it may hold an answer of that length until another replica has taken it. */
  boolean mayAnswer(Scratch scratch, int bytes) {
    if (bytes <= Scratch.KEPT || scratch.largeAnswer) {
      return true;
    }
    scratch.largeAnswer = largeAnswers.tryAcquire();
    return scratch.largeAnswer;
  }

  void giveBack(Scratch scratch) {
    boolean wasLarge = scratch.large;
    boolean wasLargeAnswer = scratch.largeAnswer;
    scratch.clear();
    if (wasLarge) {
      large.release();
    }
    if (wasLargeAnswer) {
      largeAnswers.release();
    }
    idle.addFirst(scratch);
    lent.decrementAndGet();
  }

  int lent() {
    return lent.get();
  }

  /**
   * Everything one query needs, kept from request to request. Belongs to one exchange at a time.
   */
  static final class Scratch {
    private static final int INITIAL = 64 << 10;

    /** Longest body a scratch keeps room for between queries, in bytes. */
    static final int KEPT = 1 << 20;

    final QueryBodyParser parser;
    final QueryBody query = new QueryBody();
    final QueryReply reply = new QueryReply();

    /** Holds one of the pool's permits for large bodies. */
    boolean large;

    /** Holds one of the pool's permits for large answers to other replicas. */
    boolean largeAnswer;

    private byte[] body = new byte[INITIAL];
    private int length;

    Scratch(int maxItems) {
      parser = new QueryBodyParser(maxItems);
    }

    void clear() {
      length = 0;
      large = false;
      largeAnswer = false;
      reply.clear();
      if (body.length > KEPT + QueryBodyParser.PADDING) {
        body = new byte[INITIAL];
      }
    }

    byte[] body() {
      return body;
    }

    int length() {
      return length;
    }

    void append(ByteBuffer chunk) {
      int more = chunk.remaining();
      room(length + more);
      chunk.get(body, length, more);
      length += more;
    }

    /** Makes room for a body: once where its length was announced, so that it is copied once. */
    void room(int bytes) {
      int wanted = bytes + QueryBodyParser.PADDING;
      if (wanted > body.length) {
        body = Arrays.copyOf(body, Math.max(wanted, 2 * body.length));
      }
    }
  }
}
