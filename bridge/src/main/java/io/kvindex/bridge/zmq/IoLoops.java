// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.model.PublisherId;
import io.kvindex.model.registration.Endpoint;
import java.util.List;
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
    return new IoLoops(
        Stream.generate(() -> new IoLoop(gates.get(), resolver)).limit(count).toList());
  }

  private IoLoops(List<IoLoop> loops) {
    this.loops = loops;
  }

  /**
   * The loop of a publisher: always the same one, so that what ends its last registration comes
   * before what begins the next. Publishers that share a bound port share its socket.
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
    return loops.get(0).context();
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
  }
}
