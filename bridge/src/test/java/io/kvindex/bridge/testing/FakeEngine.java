// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.testing;

import io.kvindex.model.Clock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * A publisher whose every frame a test decides: what is sent live, what the replay holds, what it
 * loses, and how it frames its answers.
 */
public final class FakeEngine implements AutoCloseable {

  /** Tokens a block of its batches. */
  public static final int BLOCK_SIZE = 4;

  /** What a replay leaves out. */
  public interface Loss {
    /** Whether answer number {@code ask} (from 1) lacks that batch. */
    boolean loses(int ask, long sequence);
  }

  private final ZContext context = new ZContext();
  private final ConcurrentSkipListMap<Long, byte[]> log = new ConcurrentSkipListMap<>();
  private final AtomicInteger asks = new AtomicInteger();
  private final boolean topicFrame;
  private final byte[] topic;
  private final int port;
  private final String replayEndpoint;
  private final Thread replayThread;
  private ZMQ.Socket pub;
  private volatile Loss loss = (ask, sequence) -> false;
  private volatile boolean silent;
  private volatile boolean running = true;

  /**
   * @param topicFrame whether replies have the topic frame of newer vLLM
   */
  public FakeEngine(boolean topicFrame) {
    this(topicFrame, 0);
  }

  /** The same at a given port, 0 = any. */
  public FakeEngine(boolean topicFrame, int wantedPort) {
    this(topicFrame, wantedPort, "", "");
  }

  /** One that connects to a bridge's port and publishes under a topic. */
  public static FakeEngine connectingTo(int port, String topic) {
    return new FakeEngine(true, 0, topic, "tcp://127.0.0.1:" + port);
  }

  private FakeEngine(boolean topicFrame, int wantedPort, String topic, String peer) {
    this.topicFrame = topicFrame;
    this.topic = topic.getBytes(StandardCharsets.UTF_8);
    pub = context.createSocket(SocketType.PUB);
    pub.setHWM(100_000);
    if (!peer.isEmpty()) {
      // JeroMQ leaves some connections without a handshake for good unless it has a limit.
      pub.setHandshakeIvl(1_000);
      pub.connect(peer);
    }
    port = wantedPort == 0 ? pub.bindToRandomPort("tcp://127.0.0.1") : wantedPort;
    if (wantedPort != 0) {
      pub.bind(endpoint());
    }
    ZMQ.Socket router = context.createSocket(SocketType.ROUTER);
    router.setHWM(0);
    replayEndpoint = "tcp://127.0.0.1:" + router.bindToRandomPort("tcp://127.0.0.1");
    replayThread = new Thread(() -> serve(router), "fake-replay");
    replayThread.start();
  }

  /** Address of live events. */
  public String endpoint() {
    return "tcp://127.0.0.1:" + port;
  }

  /** Address of the replay. */
  public String replayEndpoint() {
    return replayEndpoint;
  }

  /** How often it was asked for a replay. */
  public int asks() {
    return asks.get();
  }

  /** Leaves replay requests without an answer, as an engine does whose scheduler is busy. */
  public void silent(boolean is) {
    silent = is;
  }

  /** Makes replays lossy. */
  public void losing(Loss what) {
    loss = what;
  }

  /** Publishes batches {@code from} to {@code to} inclusive and keeps them for replay. */
  public void publish(long from, long to) {
    for (long sequence = from; sequence <= to; sequence++) {
      byte[] payload = payload(sequence);
      log.put(sequence, payload);
      live(topic, sequence(sequence), payload);
    }
  }

  /** Keeps batches for replay only, as if nobody had listened. */
  public void publishUnheard(long from, long to) {
    for (long sequence = from; sequence <= to; sequence++) {
      log.put(sequence, payload(sequence));
    }
  }

  /** Keeps a batch with a payload of one's own for replay only. */
  public void publishUnheard(long sequence, byte[] payload) {
    log.put(sequence, payload);
  }

  /** Publishes a batch with a payload of one's own. */
  public void publish(long sequence, byte[] payload) {
    log.put(sequence, payload);
    live(topic, sequence(sequence), payload);
  }

  /**
   * The process ends and another one takes its place and its ports: it knows nothing, and its clock
   * is ahead. Connections stay, as behind a proxy.
   */
  public void restart() {
    log.clear();
    long now = Clock.micros();
    while (Clock.micros() == now) {
      Thread.onSpinWait();
    }
  }

  /** What was published under that number. */
  public byte[] published(long sequence) {
    return Objects.requireNonNull(log.get(sequence));
  }

  /** The same, null = it was forgotten. */
  public byte @Nullable [] publishedOrNull(long sequence) {
    return log.get(sequence);
  }

  /** Forgets batches before {@code sequence}. */
  public void forgetBefore(long sequence) {
    log.headMap(sequence).clear();
  }

  /** Sends any frames live. */
  public synchronized void live(byte[]... frames) {
    for (int i = 0; i < frames.length; i++) {
      pub.send(frames[i], i < frames.length - 1 ? ZMQ.SNDMORE : 0);
    }
  }

  /** Closes the event socket: subscribers lose their connection. */
  public synchronized void disconnect() {
    pub.close();
  }

  /** Binds the event socket at the same port again. */
  public synchronized void reconnect() {
    pub = context.createSocket(SocketType.PUB);
    pub.setHWM(100_000);
    long deadline = System.nanoTime() + 5_000_000_000L;
    while (!bound()) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("port " + port + " does not become free");
      }
      Thread.onSpinWait();
    }
  }

  private boolean bound() {
    try {
      return pub.bind(endpoint());
    } catch (RuntimeException e) {
      return false;
    }
  }

  /** A sequence frame. */
  public static byte[] sequence(long sequence) {
    return ByteBuffer.allocate(8).putLong(sequence).array();
  }

  /** A batch that stores one block, whose engine hash is {@code sequence + 1}. */
  public static byte[] payload(long sequence) {
    return payloadAt(sequence, Clock.micros() / 1e6);
  }

  /** The same with any time. */
  public static byte[] payloadAt(long sequence, double time) {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(3).packDouble(time);
      out.packArrayHeader(1).packArrayHeader(7).packString("BlockStored");
      out.packArrayHeader(1).packLong(sequence + 1).packNil();
      out.packArrayHeader(BLOCK_SIZE);
      for (int i = 0; i < BLOCK_SIZE; i++) {
        out.packLong(sequence * BLOCK_SIZE + i);
      }
      out.packInt(BLOCK_SIZE).packNil().packString("GPU");
      out.packInt(0);
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void serve(ZMQ.Socket router) {
    router.setReceiveTimeOut(20);
    while (running) {
      byte[] identity = router.recv();
      if (identity != null) {
        router.recv();
        long start = ByteBuffer.wrap(router.recv()).getLong();
        int ask = asks.incrementAndGet();
        if (!silent) {
          answer(router, identity, start, ask);
        }
      }
    }
    router.setLinger(0);
    router.close();
  }

  private void answer(ZMQ.Socket router, byte[] identity, long start, int ask) {
    for (Map.Entry<Long, byte[]> batch : log.tailMap(start).entrySet()) {
      if (!loss.loses(ask, batch.getKey())) {
        reply(router, identity, sequence(batch.getKey()), batch.getValue());
      }
    }
    reply(router, identity, sequence(-1), new byte[0]);
  }

  private void reply(ZMQ.Socket router, byte[] identity, byte[] sequence, byte[] payload) {
    router.send(identity, ZMQ.SNDMORE);
    router.send(new byte[0], ZMQ.SNDMORE);
    if (topicFrame) {
      router.send(new byte[0], ZMQ.SNDMORE);
    }
    router.send(sequence, ZMQ.SNDMORE);
    router.send(payload, 0);
  }

  @Override
  public void close() throws InterruptedException {
    running = false;
    replayThread.join(5_000);
    synchronized (this) {
      pub.setLinger(0);
      pub.close();
    }
    context.close();
  }
}
