// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.zeromq.ZMQ;
import org.zeromq.ZMsg;

/**
 * The last batches and the answers made of them. A request is exactly {@code [identity, "", start]}
 * with {@code start} big-endian of any length up to 8 bytes, empty = 0; anything else gets no reply
 * at all, as engines do. Used by the publisher's thread only.
 */
final class ReplayBuffer {
  private static final byte[] EMPTY = {};
  private static final byte[] END = {-1, -1, -1, -1, -1, -1, -1, -1};
  private static final int WITHOUT_WAITING = ZMQ.DONTWAIT;

  private final int capacity;
  private final ReplayFraming framing;
  private final byte[] topic;
  private final double loss;
  private final AtomicLong lost;
  private final BooleanSupplier silent;
  private final Random random;
  private final ArrayDeque<Batch> batches = new ArrayDeque<>();

  /** A published batch. */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  record Batch(long sequence, byte[] payload, boolean live) {
    byte[] sequenceFrame() {
      return ByteBuffer.allocate(8).putLong(sequence).array();
    }
  }

  /**
   * @param lost counts what answers leave out
   * @param silent whether requests get no answer now
   */
  ReplayBuffer(EngineOptions options, byte[] topic, AtomicLong lost, BooleanSupplier silent) {
    this.silent = silent;
    this.capacity = options.replayBatches();
    this.framing = options.framing;
    this.topic = topic;
    this.loss = options.replayLoss;
    this.lost = lost;
    this.random = new Random(options.seed);
  }

  void add(Batch batch) {
    batches.addLast(batch);
    if (batches.size() > capacity) {
      batches.removeFirst();
    }
  }

  /** Answers one waiting request. ROUTER never blocks: beyond its high-water mark it drops. */
  void serve(ZMQ.Socket router) {
    ZMsg request = ZMsg.recvMsg(router, ZMQ.DONTWAIT);
    if (request == null || request.size() != 3 || silent.getAsBoolean()) {
      return;
    }
    byte[] identity = request.pop().getData();
    request.pop();
    byte[] start = request.pop().getData();
    if (start.length > 8) {
      return;
    }
    long from = unsigned(start);
    for (Batch batch : batches) {
      if (Long.compareUnsigned(batch.sequence(), from) < 0) {
        continue;
      }
      if (random.nextDouble() < loss) {
        lost.incrementAndGet();
      } else {
        reply(router, identity, topic, batch.sequenceFrame(), batch.payload());
      }
    }
    reply(router, identity, EMPTY, END, EMPTY);
  }

  private void reply(
      ZMQ.Socket router, byte[] identity, byte[] topicFrame, byte[] sequence, byte[] payload) {
    router.send(identity, ZMQ.SNDMORE | WITHOUT_WAITING);
    router.send(EMPTY, ZMQ.SNDMORE | WITHOUT_WAITING);
    if (framing == ReplayFraming.VLLM_026) {
      router.send(topicFrame, ZMQ.SNDMORE | WITHOUT_WAITING);
    }
    router.send(sequence, ZMQ.SNDMORE | WITHOUT_WAITING);
    router.send(payload, WITHOUT_WAITING);
  }

  private static long unsigned(byte[] bigEndian) {
    long value = 0;
    for (byte b : bigEndian) {
      value = value << 8 | (b & 0xff);
    }
    return value;
  }
}
