// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import io.kvindex.sandbox.engine.ReplayBuffer.Batch;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * The PUB and the ROUTER socket of one life of an engine, both served by one thread, as vLLM's
 * publisher thread does: live events wait while a replay is answered. {@link #publish} may be
 * called by one thread at a time.
 */
final class EventPublisher {
  private static final int QUEUED_BATCHES = 10_000;
  private static final int LINGER_MS = 1_000;
  private static final int IDLE_MS = 1_000;
  private static final long STUCK_SECONDS = 10;
  private static final String WAKE = "inproc://wake";
  private static final byte[] NOTHING = {};

  private final BlockingQueue<Batch> outbox = new ArrayBlockingQueue<>(QUEUED_BATCHES);
  private final ZContext context = new ZContext();
  private final byte[] topic;
  private final ReplayBuffer replay;
  private final ZMQ.Socket pub;
  private final ZMQ.Socket router;
  private final ZMQ.Socket woken;
  private final ZMQ.Socket waker;
  private final String endpoint;
  private final String replayEndpoint;
  private final Thread thread;

  private enum Ending {
    NO,
    AFTER_SENDING,
    AT_ONCE
  }

  private volatile Ending ending = Ending.NO;

  /** Binds both sockets ({@code tcp://host:*} = a free port) and starts the thread. */
  EventPublisher(
      EngineOptions options,
      String bindPub,
      String bindReplay,
      AtomicLong replayLost,
      BooleanSupplier silent) {
    topic = options.topic.getBytes(StandardCharsets.UTF_8);
    replay = new ReplayBuffer(options, topic, replayLost, silent);
    try {
      pub = context.createSocket(SocketType.PUB);
      pub.setHWM(options.liveHighWaterMark);
      endpoint = bind(pub, bindPub);
      router = context.createSocket(SocketType.ROUTER);
      router.setHWM(options.replayHighWaterMark);
      replayEndpoint = bind(router, bindReplay);
      woken = context.createSocket(SocketType.PAIR);
      woken.bind(WAKE);
      waker = context.createSocket(SocketType.PAIR);
      waker.connect(WAKE);
    } catch (RuntimeException e) {
      context.close();
      throw e;
    }
    thread = new Thread(this::run, "engine-" + options.name());
    thread.setDaemon(true);
    thread.start();
  }

  private static String bind(ZMQ.Socket socket, String address) {
    if (!socket.bind(address)) {
      throw new IllegalStateException("cannot bind " + address + ", error " + socket.errno());
    }
    return socket.getLastEndpoint();
  }

  String endpoint() {
    return endpoint;
  }

  String replayEndpoint() {
    return replayEndpoint;
  }

  /**
   * Hands a batch to the thread.
   *
   * @throws IllegalStateException when the thread took nothing for 10 s
   */
  void publish(Batch batch) {
    try {
      if (!outbox.offer(batch, STUCK_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("publisher of " + endpoint + " is stuck");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while publishing to " + endpoint, e);
    }
    waker.send(NOTHING, ZMQ.DONTWAIT); // a full pipe means the thread is about to wake anyway
  }

  private void run() {
    try (ZMQ.Poller poller = context.createPoller(2)) {
      poller.register(router, ZMQ.Poller.POLLIN);
      poller.register(woken, ZMQ.Poller.POLLIN);
      while (ending != Ending.AT_ONCE) {
        boolean last = ending == Ending.AFTER_SENDING;
        sendQueued();
        if (last) {
          return;
        }
        poller.poll(IDLE_MS);
        if (poller.pollin(0)) {
          sendQueued(); // a replay has every batch flushed before it was asked for
          replay.serve(router);
        }
        while (woken.recv(ZMQ.DONTWAIT) != null) {
          // Only a signal; the outbox has the work.
        }
      }
    }
  }

  private void sendQueued() {
    for (Batch batch = outbox.poll(); batch != null; batch = outbox.poll()) {
      replay.add(batch);
      if (batch.live()) {
        pub.send(topic, ZMQ.SNDMORE | ZMQ.DONTWAIT);
        pub.send(batch.sequenceFrame(), ZMQ.SNDMORE | ZMQ.DONTWAIT);
        pub.send(batch.payload(), ZMQ.DONTWAIT);
      }
    }
  }

  /** Sends what is queued, gives slow readers a second, then closes both sockets. */
  void close() {
    end(Ending.AFTER_SENDING, LINGER_MS);
  }

  /** Closes both sockets at once, as a killed process does. */
  void kill() {
    end(Ending.AT_ONCE, 0);
  }

  private void end(Ending how, int lingerMs) {
    ending = how;
    waker.send(NOTHING, ZMQ.DONTWAIT);
    try {
      thread.join(TimeUnit.SECONDS.toMillis(STUCK_SECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (!thread.isAlive()) {
      pub.setLinger(lingerMs);
      router.setLinger(lingerMs);
      pub.close(); // closed by the context they would not linger
      router.close();
    }
    context.close();
  }
}
