// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.bridge.decode.Frame;
import io.kvindex.bridge.decode.Frames;
import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.model.Clock;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZMQ;

/**
 * One question to a replay endpoint and its answer, up to the end marker, a hole or silence. A
 * socket of its own each time: what an abandoned answer still sends can not be mistaken for the
 * next one. Used by one thread at a time: one waits for the answer's beginning, another reads it.
 */
final class ReplayAttempt implements AutoCloseable {

  /** More than the batches an engine keeps (10,000): our side must never be the one to drop. */
  private static final int HIGH_WATER_MARK = 20_000;

  private static final int SLICE_MS = 100;

  /** Messages that are no batch, after which whoever answers is no engine. */
  private static final int MAX_RUBBISH = 1_000;

  /** How an attempt ended. */
  enum Outcome {
    /** End marker, no hole. */
    COMPLETE,
    /** The answer does not begin with the batch we have, which shows who answers. */
    STARTED_LATE,
    /** A batch is missing in the middle: the engine's socket dropped it. */
    HOLE,
    /** Nothing more came, and no end marker. */
    SILENT,
    /** Somebody asked us to stop. */
    STOPPED
  }

  private final ZMQ.Socket socket;
  private final int timeoutMs;
  private final long deadlineNs;
  private volatile boolean connected;

  private ReplayAttempt(ZMQ.Socket socket, Duration timeout) {
    this.socket = socket;
    this.timeoutMs = Math.toIntExact(timeout.toMillis());
    this.deadlineNs = System.nanoTime() + timeout.toNanos();
  }

  /**
   * Asks for everything from {@code start} on.
   *
   * @param address in numbers: a name would be looked up by this thread
   * @param timeout longest wait for each message of the answer
   * @throws RuntimeException if the address can not be used at all
   */
  static ReplayAttempt ask(ZMQ.Context context, String address, Duration timeout, long start) {
    ZMQ.Socket socket = context.socket(SocketType.DEALER);
    try {
      ReplayAttempt attempt = new ReplayAttempt(socket, timeout);
      SocketOptions.apply(socket, HIGH_WATER_MARK);
      socket.setReceiveTimeOut(SLICE_MS);
      socket.setEventHook(event -> attempt.connected = true, ZMQ.EVENT_HANDSHAKE_PROTOCOL);
      socket.connect(address);
      // The empty delimiter is what a REQ socket would send; without it engines do not answer.
      socket.send(new byte[0], ZMQ.SNDMORE);
      socket.send(ByteBuffer.allocate(Long.BYTES).putLong(start).array(), 0);
      return attempt;
    } catch (RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  /** To be polled for the beginning of the answer. */
  ZMQ.Socket socket() {
    return socket;
  }

  /** Whether the other side has begun to speak ZMTP; any thread. */
  boolean isConnected() {
    return connected;
  }

  /** Whether its answer should have begun at that {@link System#nanoTime}. */
  boolean isOverdue(long nowNs) {
    return nowNs - deadlineNs >= 0;
  }

  @Override
  public void close() {
    socket.close();
  }

  /** Reads the answer. */
  Outcome read(ReplayJob job, BooleanSupplier stopped) throws InterruptedException {
    boolean first = true;
    int rubbish = 0;
    long wanted = job.expected();
    while (true) {
      List<byte[]> frames = receive(stopped);
      if (frames == null) {
        return stopped.getAsBoolean() ? Outcome.STOPPED : Outcome.SILENT;
      }
      Frame frame = Frames.replay(frames, Clock.micros());
      if (frame instanceof Frame.End) {
        return Outcome.COMPLETE;
      }
      if (!(frame instanceof RawBatch batch)) {
        job.discard(true);
        if (++rubbish > MAX_RUBBISH) {
          return Outcome.SILENT;
        }
        continue;
      }
      int beyond = Long.compareUnsigned(batch.sequence(), job.expected());
      boolean unproven = first && beyond == 0 && wanted != 0;
      if ((beyond > 0 || unproven) && !job.takesHoles()) {
        job.discard(false);
        return first ? Outcome.STARTED_LATE : Outcome.HOLE;
      }
      if (!job.accept(batch)) {
        return Outcome.STOPPED;
      }
      // Buffers have no holes: what is missing behind the batch we have was lost on the way.
      first &= Long.compareUnsigned(batch.sequence() + 1, wanted) < 0;
    }
  }

  /** The next message, null if there is none in time or we are to stop. */
  private @Nullable List<byte[]> receive(BooleanSupplier stopped) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    byte[] first = socket.recv();
    while (first == null && !stopped.getAsBoolean() && System.nanoTime() < deadline) {
      first = socket.recv();
    }
    return first == null ? null : Multipart.from(first, socket);
  }
}
