// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.model.PublisherId;
import io.kvindex.model.registration.Endpoint;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.zeromq.ZMQ;

/**
 * The loops of a bridge, each with publishers of its own: one that has much to tell holds up a part
 * of the others, not all. A handful, however many publishers there are. Thread-safe.
 */
public final class IoLoops implements AutoCloseable {

  /** More would wait for Kafka's one sender, not for publishers. */
  private static final int MOST = 4;

  private final ZMQ.Context context = IoLoop.newContext();
  private final ScheduledThreadPoolExecutor timer = IoLoop.newTimer();
  private final List<IoLoop> loops;

  /**
   * Starts as many as there are processors, four at most.
   *
   * @param gates makes one for each
   * @param resolver looks up the names of endpoints; must outlive this object
   */
  public static IoLoops start(Supplier<IoLoop.Gate> gates, Resolver resolver) {
    return start(Math.min(MOST, Runtime.getRuntime().availableProcessors()), gates, resolver);
  }

  /** The same, as many as are wanted. */
  public static IoLoops start(int count, Supplier<IoLoop.Gate> gates, Resolver resolver) {
    return new IoLoops(count, gates, resolver);
  }

  private IoLoops(int count, Supplier<IoLoop.Gate> gates, Resolver resolver) {
    loops =
        Stream.generate(() -> new IoLoop(gates.get(), resolver, context, timer))
            .limit(count)
            .toList();
  }

  /**
   * The loop of a publisher: the same one as long as its endpoint is connected to, or bound at the
   * same port, so that what ends a registration comes before what begins the next. Elsewhere they
   * may overlap, and the generation tells them apart. Publishers of a bound port share its socket.
   *
   * @param endpoint of its events
   */
  public IoLoop of(PublisherId publisher, String endpoint) {
    int number = Endpoint.isBound(endpoint) ? port(endpoint) : publisher.hashCode();
    return loops.get(Math.floorMod(number, loops.size()));
  }

  private static int port(String endpoint) {
    try {
      return Endpoint.parse(endpoint).port();
    } catch (IllegalArgumentException e) { // registered before there was a check
      return 0;
    }
  }

  /** For the sockets of other threads; closed with the loops. */
  public ZMQ.Context context() {
    return context;
  }

  /** Whether all of their threads run. */
  public boolean isAlive() {
    return loops.stream().allMatch(IoLoop::isAlive);
  }

  /** Ends the threads and closes all sockets; sockets of other threads must be closed before. */
  @Override
  public void close() throws InterruptedException {
    loops.forEach(IoLoop::stop);
    for (IoLoop loop : loops) {
      loop.close();
    }
    IoLoop.end(context, timer);
  }
}
