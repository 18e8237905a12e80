// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Stands between a publisher and its subscribers and loses, doubles, delays or cuts what passes. It
 * hides from subscribers that the publisher's connection breaks, unless it is told to break theirs.
 * The same seed and the same messages meet the same faults. Thread-safe.
 */
public final class LossyProxy implements AutoCloseable {

  private static final int HIGH_WATER_MARK = 100_000;
  private static final int HANDSHAKE_MS = 300;
  private static final int POLL_MS = 5;
  private static final int MAX_DELAY = 20;
  private static final int MAX_WITHHELD = 10_000;

  private final ZContext context = new ZContext();
  private final ZMQ.Socket sub;
  private final String endpoint;
  private final Random random;
  private final Thread thread;
  private final List<Held> held = new ArrayList<>();
  // Bounded by its callers, who wait for each command to be done.
  private final BlockingQueue<Runnable> commands = new LinkedBlockingQueue<>();
  private final AtomicLong passed = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private final AtomicLong duplicated = new AtomicLong();
  private final AtomicLong delayed = new AtomicLong();
  private final AtomicLong truncated = new AtomicLong();
  private final AtomicLong withheld = new AtomicLong();
  private final List<List<byte[]>> waiting = new ArrayList<>();
  private final Consumer<List<byte[]>> witness;
  private boolean withholding;
  private ZMQ.Socket pub;
  private volatile Faults faults;
  private volatile boolean running = true;

  /** A message that waits until so many others have passed. */
  private static final class Held {
    final List<byte[]> frames;
    int others;

    Held(List<byte[]> frames, int others) {
      this.frames = frames;
      this.others = others;
    }
  }

  /** Connects to a publisher and binds a port of its own. */
  public LossyProxy(String publisher, long seed, Faults faults) {
    this(publisher, seed, faults, frames -> {});
  }

  /**
   * The same.
   *
   * @param witness told by the proxy's thread of each message that is about to be passed on whole
   */
  public LossyProxy(String publisher, long seed, Faults faults, Consumer<List<byte[]>> witness) {
    this.faults = faults;
    this.witness = witness;
    random = new Random(seed);
    sub = context.createSocket(SocketType.SUB);
    sub.setHWM(HIGH_WATER_MARK);
    sub.setHandshakeIvl(HANDSHAKE_MS);
    sub.subscribe(new byte[0]);
    sub.connect(publisher);
    pub = publisher();
    pub.bind("tcp://127.0.0.1:*");
    endpoint = pub.getLastEndpoint();
    thread = new Thread(this::run, "lossy-proxy");
    thread.setDaemon(true);
    thread.start();
  }

  private ZMQ.Socket publisher() {
    ZMQ.Socket socket = context.createSocket(SocketType.PUB);
    socket.setHWM(HIGH_WATER_MARK);
    socket.setLinger(0);
    return socket;
  }

  /** Where subscribers connect. */
  public String endpoint() {
    return endpoint;
  }

  /** Changes what it does from the next message on; what it holds back is passed on first. */
  public void faults(Faults next) throws InterruptedException {
    execute(
        () -> {
          held.forEach(message -> send(message.frames));
          held.clear();
          faults = next;
        });
  }

  /** Lets nothing through any more until {@link #release}. */
  public void withhold() throws InterruptedException {
    execute(() -> withholding = true);
  }

  /** The messages that wait for {@link #release}, oldest first. */
  public List<List<byte[]>> waiting() throws InterruptedException {
    List<List<byte[]>> copy = new ArrayList<>();
    execute(() -> copy.addAll(waiting));
    return copy;
  }

  /** Passes on, late but whole, what was withheld, and goes on as before. */
  public void release() throws InterruptedException {
    execute(
        () -> {
          withholding = false;
          withheld.addAndGet(waiting.size());
          waiting.forEach(this::send);
          waiting.clear();
        });
  }

  /** Breaks the connections of all subscribers and lets them come back. */
  public void breakConnections() throws InterruptedException {
    execute(
        () -> {
          pub.close();
          pub = publisher();
          while (running && !bind()) {
            Thread.onSpinWait();
          }
        });
  }

  private boolean bind() {
    try {
      return pub.bind(endpoint);
    } catch (RuntimeException e) {
      return false; // the port is not free yet
    }
  }

  private void execute(Runnable command) throws InterruptedException {
    BlockingQueue<Boolean> done = new LinkedBlockingQueue<>();
    commands.add(
        () -> {
          command.run();
          done.add(true);
        });
    if (done.poll(10, TimeUnit.SECONDS) == null) {
      throw new IllegalStateException("the proxy at " + endpoint + " does not answer");
    }
  }

  private void run() {
    try (ZMQ.Poller poller = context.createPoller(1)) {
      poller.register(sub, ZMQ.Poller.POLLIN);
      while (running) {
        for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
          command.run();
        }
        poller.poll(POLL_MS);
        for (List<byte[]> frames = receive(); frames != null; frames = receive()) {
          pass(frames);
        }
      }
    }
  }

  private @Nullable List<byte[]> receive() {
    byte[] first = sub.recv(ZMQ.DONTWAIT);
    if (first == null) {
      return null;
    }
    List<byte[]> frames = new ArrayList<>(3);
    frames.add(first);
    while (sub.hasReceiveMore()) {
      frames.add(sub.recv());
    }
    return frames;
  }

  private void pass(List<byte[]> frames) {
    passed.incrementAndGet();
    if (withholding && waiting.size() < MAX_WITHHELD) {
      waiting.add(frames);
      return;
    }
    double chance = random.nextDouble();
    int others = 1 + random.nextInt(MAX_DELAY);
    Faults now = faults;
    if (chance < now.dropped()) {
      dropped.incrementAndGet();
    } else if (chance < now.dropped() + now.duplicated()) {
      duplicated.incrementAndGet();
      send(frames);
      held.add(new Held(frames, others));
    } else if (chance < now.dropped() + now.duplicated() + now.delayed()) {
      delayed.incrementAndGet();
      held.add(new Held(frames, others));
    } else if (chance < now.dropped() + now.duplicated() + now.delayed() + now.truncated()) {
      truncated.incrementAndGet();
      byte[] payload = frames.get(frames.size() - 1);
      frames.set(frames.size() - 1, Arrays.copyOf(payload, payload.length / 2));
      forward(frames);
    } else {
      send(frames);
    }
    releaseDue();
  }

  private void releaseDue() {
    for (int i = 0; i < held.size(); i++) {
      Held message = held.get(i);
      if (message.others-- == 0) {
        held.remove(i--);
        send(message.frames);
      }
    }
  }

  private void send(List<byte[]> frames) {
    witness.accept(frames);
    forward(frames);
  }

  private void forward(List<byte[]> frames) {
    for (int i = 0; i < frames.size(); i++) {
      pub.send(frames.get(i), i < frames.size() - 1 ? ZMQ.SNDMORE : 0);
    }
  }

  /** Messages that came. */
  public long passed() {
    return passed.get();
  }

  /** Messages lost. */
  public long dropped() {
    return dropped.get();
  }

  /** Messages sent twice, the second time late. */
  public long duplicated() {
    return duplicated.get();
  }

  /** Messages overtaken by others. */
  public long delayed() {
    return delayed.get();
  }

  /** Messages withheld and passed on later. */
  public long withheld() {
    return withheld.get();
  }

  /** Messages cut in half. */
  public long truncated() {
    return truncated.get();
  }

  @Override
  public void close() throws InterruptedException {
    running = false;
    thread.join();
    context.close();
  }
}
