// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks up the names of hosts on threads of its own, since a lookup may take as long as it likes:
 * JeroMQ looks up on the thread that connects and, at each reconnect, on the one that serves all
 * sockets ({@code zmq.io.net.tcp.TcpConnecter}, 0.6.0), and one slow name stops every engine.
 *
 * <p>A name is looked up once at a time, whoever waits for it. Names that were slow before have
 * threads of their own, so that they keep no other one waiting; of others as many as there are
 * threads may hang at a time. What waits is bounded by who asks: each has one question at a time.
 * Thread-safe.
 */
public final class Resolver implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Resolver.class);

  /** Names looked up at a time that are not known to be slow; threads live as long as needed. */
  private static final int THREADS = 64;

  /** Names looked up at a time that took long the last time. */
  private static final int SLOW_THREADS = 8;

  private static final long SLOW_NS = TimeUnit.SECONDS.toNanos(1);

  /** Names remembered to be slow, newest last. */
  private static final int MOST_SLOW = 1_024;

  /** Looks a name up; may block for long, and is called by several threads. */
  public interface Lookup {
    /** The system's, with the JVM's cache. */
    Lookup SYSTEM = host -> List.of(InetAddress.getAllByName(host));

    /** Addresses of a host in the order to try them, at least one. */
    List<InetAddress> addresses(String host) throws UnknownHostException;
  }

  /**
   * What became of a lookup.
   *
   * @param addresses those of the host, empty if it failed
   * @param problem why, for people; null = it did not
   */
  public record Result(List<InetAddress> addresses, @Nullable String problem) {
    static Result of(List<InetAddress> addresses) {
      return new Result(List.copyOf(addresses), null);
    }
  }

  private final Lookup lookup;
  private final ThreadPoolExecutor quick = pool("zmq-names", THREADS);
  private final ThreadPoolExecutor slow = pool("zmq-slow-names", SLOW_THREADS);
  private volatile boolean closed;
  private final Map<String, List<Consumer<Result>>> waiting = new HashMap<>();
  private final Map<String, Boolean> slowNames =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > MOST_SLOW;
        }
      };

  /** Looks up with that function. */
  public Resolver(Lookup lookup) {
    this.lookup = lookup;
  }

  private static ThreadPoolExecutor pool(String name, int threads) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads, threads, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), daemons(name));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  static ThreadFactory daemons(String name) {
    AtomicInteger number = new AtomicInteger();
    return task -> {
      Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
      thread.setDaemon(true);
      return thread;
    };
  }

  /**
   * Looks a name up; returns at once.
   *
   * @param done told once, by a thread that must not be blocked; never after {@link #close}
   */
  public void resolve(String host, Consumer<Result> done) {
    Executor threads;
    synchronized (waiting) {
      List<Consumer<Result>> others = waiting.get(host);
      if (others != null) {
        others.add(done);
        return;
      }
      waiting.put(host, new ArrayList<>(List.of(done)));
      threads = slowNames.containsKey(host) ? slow : quick;
    }
    try {
      threads.execute(() -> lookUp(host));
    } catch (RejectedExecutionException e) {
      LOG.debug("closing; the name {} is not looked up any more", host);
    }
  }

  private void lookUp(String host) {
    long began = System.nanoTime();
    Result result;
    try {
      result = Result.of(lookup.addresses(host));
      if (result.addresses().isEmpty()) {
        result = failure(host, "it has none");
      }
    } catch (UnknownHostException e) {
      result = failure(host, "it is unknown");
    } catch (RuntimeException e) {
      result = failure(host, e.toString());
    }
    List<Consumer<Result>> told;
    synchronized (waiting) {
      slowNames.remove(host);
      if (System.nanoTime() - began >= SLOW_NS) {
        slowNames.put(host, true);
      }
      told = waiting.remove(host);
    }
    for (Consumer<Result> one : told == null ? List.<Consumer<Result>>of() : told) {
      if (!closed) {
        one.accept(result);
      }
    }
  }

  private static Result failure(String host, String why) {
    return new Result(List.of(), "no address of the name " + host + ": " + why);
  }

  /** Nobody is told anything any more; a lookup that hangs goes with the process. */
  @Override
  public void close() {
    closed = true;
    quick.shutdownNow();
    slow.shutdownNow();
  }
}
