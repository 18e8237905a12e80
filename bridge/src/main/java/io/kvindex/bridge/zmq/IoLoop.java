// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.registration.Endpoint;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZMQ;

/**
 * A thread that owns subscriptions and the state of everything that follows their publishers. Other
 * threads reach it through {@link #execute}, {@link #later} and {@link Signal}; while the gate is
 * closed (Kafka is behind) it reads no socket at all, so pressure reaches the publishers. What
 * comes over the network is read by a thread of ZeroMQ's meanwhile.
 */
public final class IoLoop implements AutoCloseable {

  private static final Duration CLOSE = Duration.ofSeconds(10);
  private static final Logger LOG = LoggerFactory.getLogger(IoLoop.class);
  private static final OncePerMinute ERRORS = new OncePerMinute();
  private static final int MAX_SOCKETS = 65_536;
  private static final int MAX_TASKS = 4_096;
  private static final long POLL_MS = 250;

  /** Reads one subscription; called by the loop's thread. */
  public interface Reader {
    /** Whether there is room for what the socket has; false leaves it to ZeroMQ's buffer. */
    boolean wantsMessages();

    /** A message's frames, at least one. */
    void onMessage(List<byte[]> frames);

    /** The gate was closed and is open again: go on with what had to wait. */
    void onReopened();
  }

  /** Told of a publisher's connections, by a ZeroMQ thread; must not block. */
  public interface Listener {

    /** A peer is connected (again): what it sends from about now on arrives. */
    void connected();

    /** No peer is connected any more; ZeroMQ goes on trying. */
    void disconnected();

    /**
     * There is nothing to connect to: the name has no address. It is looked up again. Called by the
     * loop's thread.
     */
    default void unresolved(String problem) {}
  }

  /** Whether more may be read now; of one loop, asked by its thread. */
  public interface Gate {
    /**
     * Whom to tell, on any thread, that it may be worth while to try to reopen it. One that is
     * never closed has nothing to tell.
     */
    default void onReopening(Runnable listener) {}

    /** Whether a further message may be read; false closes it. */
    boolean hasRoom();

    /** Closed since somebody met it without room. */
    boolean isClosed();

    /** Opens it again if there is room enough to make it worth while. */
    boolean tryReopen();
  }

  /** A flag any thread may raise; the handler then runs once on the loop's thread. */
  public final class Signal {
    private final AtomicBoolean raised = new AtomicBoolean();
    private final Runnable handler;

    private Signal(Runnable handler) {
      this.handler = handler;
    }

    /** Never blocks; raising a raised one changes nothing. */
    public void raise() {
      if (raised.compareAndSet(false, true)) {
        post(this::run);
      }
    }

    private void run() {
      raised.set(false);
      handler.run();
    }
  }

  private final ZMQ.Context context;
  private final ScheduledThreadPoolExecutor timer;

  /** Whether it has those for itself, to be closed with it. */
  private final boolean alone;

  private final WakeUp wake = new WakeUp();
  private final Gate gate;
  private final Resolver resolver;
  private final Thread thread;
  private final BlockingQueue<Runnable> tasks = new ArrayBlockingQueue<>(MAX_TASKS);
  // Bounded by the publishers: each has a handful of signals, timers and questions to Kafka.
  private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();
  private final Map<Reader, Inlet> inlets = new LinkedHashMap<>();

  /** Each once, however many readers it has. */
  private final Set<Inlet> open = new LinkedHashSet<>();

  private final ZMQ.Poller poller;
  private volatile boolean running = true;

  /**
   * Starts the thread.
   *
   * @param gate nobody else's
   * @param resolver looks up the names of endpoints; must outlive this object
   */
  public IoLoop(Gate gate, Resolver resolver) {
    this(gate, resolver, newContext(), newTimer(), true);
  }

  /** One of several, with a context and a timer that all of them share and do not close. */
  IoLoop(Gate gate, Resolver resolver, ZMQ.Context context, ScheduledThreadPoolExecutor timer) {
    this(gate, resolver, context, timer, false);
  }

  private IoLoop(
      Gate gate,
      Resolver resolver,
      ZMQ.Context context,
      ScheduledThreadPoolExecutor timer,
      boolean alone) {
    this.gate = gate;
    this.resolver = resolver;
    this.context = context;
    this.timer = timer;
    this.alone = alone;
    poller = context.poller(64);
    poller.register(wake.channel(), ZMQ.Poller.POLLIN);
    thread = new Thread(this::run, "zmq-io");
    thread.setDaemon(true);
    gate.onReopening(this::wakeUp);
    thread.start();
  }

  static ZMQ.Context newContext() {
    ZMQ.Context context = ZMQ.context(1);
    context.setMaxSockets(MAX_SOCKETS);
    return context;
  }

  static ScheduledThreadPoolExecutor newTimer() {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(1, Resolver.daemons("zmq-timer"));
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return timer;
  }

  /** Whether its readers may hand on more now; false closes its gate. */
  public boolean hasRoom() {
    return gate.hasRoom();
  }

  /** Of its sockets. */
  public ZMQ.Context context() {
    return context;
  }

  /** A new signal with that handler. */
  public Signal signal(Runnable handler) {
    return new Signal(handler);
  }

  /**
   * Runs a task on the loop's thread; waits while very many are waiting. Not to be called by that
   * thread itself. After {@link #close} tasks are dropped.
   */
  public void execute(Runnable task) throws InterruptedException {
    while (running && !tasks.offer(task, POLL_MS, TimeUnit.MILLISECONDS)) {
      wakeUp();
    }
    wakeUp();
  }

  /** Runs something small on the loop's thread after a pause, zero = next; any thread. */
  public void later(Runnable step, Duration pause) {
    if (pause.isZero()) {
      post(step);
      return;
    }
    try {
      timer.schedule(() -> post(step), pause.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("closing; a delayed step is dropped");
    }
  }

  private void post(Runnable step) {
    steps.add(step);
    wakeUp();
  }

  Resolver resolver() {
    return resolver;
  }

  /**
   * Opens a subscription and reads it from now on; loop thread only. A name is looked up meanwhile:
   * the listener is told when there is a connection.
   *
   * @param topic beginning of the topics wanted, empty = all
   * @param highWaterMark messages kept by ZeroMQ for us; beyond it they wait at the publisher
   * @throws RuntimeException if its port is taken, or its topic is another reader's
   */
  public void subscribe(
      Endpoint endpoint, String topic, int highWaterMark, Listener listener, Reader reader) {
    Inlet bound = bound(endpoint);
    if (bound != null) {
      bound.add(topic, reader, listener);
      inlets.put(reader, bound);
      listener.connected(); // maybe long ago: only a replay tells what it missed
      return;
    }
    Inlet inlet = new Inlet(this, endpoint, highWaterMark);
    try {
      inlet.add(topic, reader, listener);
      inlet.open();
    } catch (RuntimeException e) {
      inlet.close();
      throw e;
    }
    inlets.put(reader, inlet);
    open.add(inlet);
  }

  private @Nullable Inlet bound(Endpoint endpoint) {
    return endpoint.isBound()
        ? inlets.values().stream()
            .filter(inlet -> inlet.endpoint().equals(endpoint))
            .findFirst()
            .orElse(null)
        : null;
  }

  /** Closes a reader's subscription, if it has one; loop thread only. */
  public void unsubscribe(Reader reader) {
    Inlet inlet = inlets.remove(reader);
    if (inlet != null && inlet.remove(reader)) {
      open.remove(inlet);
      inlet.rest(poller);
      inlet.close();
    }
  }

  /** Makes the loop look at tasks, signals and gate at once; any thread. */
  public void wakeUp() {
    wake.raise();
    LockSupport.unpark(thread);
  }

  private void run() {
    while (running) {
      try {
        turn();
      } catch (RuntimeException e) {
        if (ERRORS.allows()) {
          LOG.error("BUG: the socket loop goes on after an exception", e);
        }
      }
    }
    open.forEach(Inlet::close);
    poller.close();
  }

  private void turn() {
    wake.clear();
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      guard(task);
    }
    int waiting = steps.size();
    for (Runnable s = steps.poll(); s != null; s = --waiting > 0 ? steps.poll() : null) {
      guard(s);
    }
    if (gate.isClosed()) {
      if (!gate.tryReopen()) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(POLL_MS)); // ended by wakeUp
        return;
      }
      List.copyOf(open).forEach(inlet -> guard(inlet::onReopened));
    }
    await(steps.isEmpty() && tasks.isEmpty() ? POLL_MS : 0);
  }

  /** Waits for messages where they are wanted and hands them on. */
  private void await(long timeoutMs) {
    for (Inlet inlet : open) {
      inlet.poll(poller);
    }
    if (poller.poll(timeoutMs) <= 0) {
      return;
    }
    for (Inlet inlet : List.copyOf(open)) { // readers may close theirs
      if (inlet.isReadable()) {
        inlet.read(gate);
      }
    }
  }

  private static void guard(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      if (ERRORS.allows()) {
        LOG.error("BUG: a step of the socket loop failed", e);
      }
    }
  }

  /** Whether the thread runs. */
  public boolean isAlive() {
    return thread.isAlive();
  }

  /** Has the thread end; does not wait for it. {@link #close} has to follow. */
  void stop() {
    running = false;
    wakeUp();
  }

  /** Ends the thread and closes all sockets; sockets of other threads must be closed before. */
  @Override
  public void close() throws InterruptedException {
    stop();
    thread.join(CLOSE.toMillis());
    if (alone) {
      end(context, timer);
    }
    wake.close();
  }

  /** Ends what loops need, once they are closed. */
  static void end(ZMQ.Context context, ScheduledThreadPoolExecutor timer)
      throws InterruptedException {
    timer.shutdownNow();
    end(context, CLOSE);
  }

  /**
   * Ends a ZeroMQ context in a thread of its own and waits for that, but not for ever. JeroMQ waits
   * until its reaper has closed all sockets ({@code zmq.Ctx.terminate}, 0.6.0), without a limit;
   * where the reaper has died, or a socket was left open, whoever waits would never come back.
   *
   * @return whether it has ended; else that thread goes on waiting, and goes with the process
   */
  static boolean end(ZMQ.Context context, Duration longest) throws InterruptedException {
    Thread thread = new Thread(context::term, "zmq-term");
    thread.setDaemon(true);
    thread.start();
    thread.join(longest.toMillis());
    if (thread.isAlive()) {
      LOG.warn(
          "ZeroMQ still holds sockets after {} s; they are closed when this process ends",
          longest.toSeconds());
      return false;
    }
    return true;
  }
}
