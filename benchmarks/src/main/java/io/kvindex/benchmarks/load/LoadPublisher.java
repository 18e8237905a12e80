// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMsg;

/**
 * One simulated vLLM publisher: a PUB endpoint and a ROUTER replay endpoint of its own, sequences
 * from 0. The PUB is an XPUB on the wire's other side, only so that {@link #subscribed} can tell
 * when somebody listens. Used by one thread at a time, which calls {@link #serve} often.
 */
final class LoadPublisher {
  private static final int HIGH_WATER_MARK = 100_000; // vLLM's
  private static final byte[] EMPTY = {};
  private static final byte[] END = {-1, -1, -1, -1, -1, -1, -1, -1};

  private final ZMQ.Socket pub;
  private final ZMQ.Socket router;
  private final String endpoint;
  private final String replayEndpoint;
  private final byte[][] kept;
  private final long[] operationsUpTo;
  private long next;
  private long replayable;
  private long operations;
  private boolean subscribed;

  /**
   * @param keptBatches batches the replay endpoint remembers
   */
  LoadPublisher(ZContext context, int keptBatches) {
    kept = new byte[keptBatches][];
    operationsUpTo = new long[keptBatches];
    pub = context.createSocket(SocketType.XPUB);
    pub.setHWM(HIGH_WATER_MARK);
    endpoint = bind(pub);
    router = context.createSocket(SocketType.ROUTER);
    router.setHWM(HIGH_WATER_MARK);
    replayEndpoint = bind(router);
  }

  private static String bind(ZMQ.Socket socket) {
    socket.setLinger(0);
    if (!socket.bind("tcp://127.0.0.1:*")) {
      throw new IllegalStateException("cannot bind, error " + socket.errno());
    }
    return socket.getLastEndpoint();
  }

  String endpoint() {
    return endpoint;
  }

  String replayEndpoint() {
    return replayEndpoint;
  }

  /** Whether a subscription has arrived, so that live batches no longer vanish. */
  boolean subscribed() {
    return subscribed;
  }

  /** Sends a batch of so many block operations; its sequence. */
  long publish(byte[] payload, int blockOperations) {
    long sequence = next++;
    operations += blockOperations;
    int slot = (int) (sequence % kept.length);
    kept[slot] = payload;
    operationsUpTo[slot] = operations;
    pub.send(EMPTY, ZMQ.SNDMORE | ZMQ.DONTWAIT);
    pub.send(frame(sequence), ZMQ.SNDMORE | ZMQ.DONTWAIT);
    pub.send(payload, ZMQ.DONTWAIT);
    return sequence;
  }

  /** Keeps a batch for the replay alone, as if it had been lost on its way to subscribers. */
  void publishUnheard(byte[] payload) {
    kept[(int) (next % kept.length)] = payload;
    next++;
  }

  /** Another process in its place: counts from 0 and remembers nothing. Connections stay. */
  void restart() {
    Arrays.fill(kept, null);
    next = 0;
    replayable = 0;
    operations = 0;
  }

  /** Replays begin with the next batch: those before it have left the buffer. */
  void forgetReplay() {
    replayable = next;
  }

  /** Last sequence published, -1 before the first. */
  long lastSequence() {
    return next - 1;
  }

  /** Block operations in all batches up to this one, which must still be in the replay buffer. */
  long operationsUpTo(long sequence) {
    return sequence < 0 ? 0 : operationsUpTo[(int) (sequence % kept.length)];
  }

  long operations() {
    return operations;
  }

  /** Answers waiting replay requests and notes subscriptions; never waits. */
  void serve() {
    for (byte[] message = pub.recv(ZMQ.DONTWAIT);
        message != null;
        message = pub.recv(ZMQ.DONTWAIT)) {
      subscribed = message.length > 0 && message[0] == 1;
    }
    for (ZMsg request = ZMsg.recvMsg(router, ZMQ.DONTWAIT);
        request != null;
        request = ZMsg.recvMsg(router, ZMQ.DONTWAIT)) {
      replay(request);
    }
  }

  private void replay(ZMsg request) {
    if (request.size() != 3) {
      return; // engines give no answer either
    }
    byte[] identity = request.pop().getData();
    request.pop();
    byte[] start = request.pop().getData();
    long from = 0;
    for (byte b : start) {
      from = from << 8 | (b & 0xff);
    }
    long oldest = Math.max(replayable, next - kept.length);
    for (long s = from < 0 ? next : Math.max(from, oldest); s < next; s++) {
      reply(identity, frame(s), kept[(int) (s % kept.length)]);
    }
    reply(identity, END, EMPTY);
  }

  private void reply(byte[] identity, byte[] sequence, byte @Nullable [] payload) {
    router.send(identity, ZMQ.SNDMORE);
    router.send(EMPTY, ZMQ.SNDMORE);
    router.send(EMPTY, ZMQ.SNDMORE); // topic
    router.send(sequence, ZMQ.SNDMORE);
    router.send(payload == null ? EMPTY : payload, 0);
  }

  private static byte[] frame(long sequence) {
    return ByteBuffer.allocate(8).putLong(sequence).array();
  }
}
