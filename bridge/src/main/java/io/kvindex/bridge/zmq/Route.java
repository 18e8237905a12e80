// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.model.registration.Endpoint;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Where a connecting socket's endpoint leads. Its name is looked up in the background, the socket
 * gets numbers only. While there is no connection it goes on to the next address, and to where the
 * name leads by now; at one address ZeroMQ itself tries again. Loop thread only, except {@link
 * #connected} and {@link #lost}, which belong to ZeroMQ's.
 */
final class Route {

  /** Between two looks while there is no connection; doubled each time. */
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(15);

  /**
   * After a connection came back: what was looked up when it broke may have been remembered from
   * before, and another engine may have the address by now.
   */
  private static final Duration ONCE_MORE = Duration.ofSeconds(10);

  /** For so long an engine that is gone is expected back. */
  private static final Duration EXPECTED_BACK = Duration.ofMinutes(5);

  /** A lookup that takes longer is worth a word. */
  private static final Duration LONG = Duration.ofSeconds(1);

  /** The socket that is led. */
  interface Led {
    /**
     * Connects to that address alone.
     *
     * @param before the one it was connected to, null = none
     */
    void connect(String address, @Nullable String before);

    /** Whether messages wait that would be lost with the connection they came by. */
    boolean hasMessages();

    /** Whether it should try often to connect again. */
    void reconnects(boolean soon);

    /** A connection was given up though it stood. */
    void dropped();

    /** Its name has no address, or none yet. */
    void unresolved(String problem);
  }

  private final Endpoint endpoint;
  private final Resolver resolver;
  private final Led socket;
  private final Runnable wake;
  private final AtomicReference<Resolver.@Nullable Result> found = new AtomicReference<>();

  /** Also read by ZeroMQ's thread; does not change but as a whole. */
  private volatile List<InetAddress> addresses;

  private @Nullable InetAddress current;
  private @Nullable InetAddress target;

  /** Addresses tried one after another since they were last looked up. */
  private int tried;

  private Duration pause = FIRST_PAUSE;
  private boolean looking;

  /** Counts lookups. */
  private int looks;

  /** The lookup that takes long. */
  private volatile int longLook = -1;

  private boolean closed;

  /** Counts connections lost, so that a pause from before says nothing. */
  private int losses;

  /** When the last connection was lost, {@link System#nanoTime}. */
  private long lostNs;

  /** Whether it is tried often to connect again, until a timer says that it was long enough. */
  private boolean expectsBack;

  /** A timer says that an engine was expected back for long enough. */
  private volatile boolean expectedLongEnough;

  private volatile int dueAfter = -1;
  private boolean justLost;

  // What ZeroMQ's thread says.
  private @Nullable String connectedTo;
  private boolean up;
  private boolean broke;
  private boolean refused;

  /**
   * @param wake has {@link #step} called by the loop; any thread
   */
  Route(Endpoint endpoint, Resolver resolver, Led socket, Runnable wake) {
    this.endpoint = endpoint;
    this.resolver = resolver;
    this.socket = socket;
    this.wake = wake;
    addresses = endpoint.addresses();
  }

  /** The form of an address in which nothing is looked up. */
  static String numeric(InetAddress address, int port) {
    String host = address.getHostAddress();
    return "tcp://" + (address instanceof Inet6Address ? "[" + host + "]" : host) + ":" + port;
  }

  /** Begins. */
  void open() {
    if (addresses.isEmpty()) {
      look();
    } else {
      target = addresses.get(0);
      move();
      lookLater();
    }
  }

  /** Ends: nothing is done any more. */
  void close() {
    closed = true;
  }

  /** A connection stands; whether it is to where this route leads. */
  synchronized boolean connected(String address) {
    if (!address.equals(connectedTo)) {
      return false;
    }
    up = true;
    wake.run();
    return true;
  }

  /** A connection is gone or has not come about; whether it was the one of this route. */
  synchronized boolean lost(String address) {
    if (!address.equals(connectedTo)) {
      return false;
    }
    boolean others = addresses.size() > 1;
    broke |= up;
    refused |= !up && others;
    up = false;
    if (broke || others) {
      wake.run(); // else ZeroMQ goes on trying, hundreds of engines that are gone at a time
    }
    return true;
  }

  private synchronized boolean isUp() {
    return up;
  }

  private synchronized boolean takeBroke() {
    boolean is = broke;
    broke = false;
    return is;
  }

  private synchronized boolean takeRefused() {
    boolean is = refused;
    refused = false;
    return is;
  }

  /** Goes on with what has become known. */
  void step() {
    if (closed) {
      return;
    }
    boolean wasRefused = takeRefused();
    if (takeBroke()) {
      losses++;
      expectBack();
      justLost = true;
      pause = FIRST_PAUSE;
      tried = 0;
      look();
    } else if (wasRefused && tried + 1 < addresses.size() && target == null) {
      tried++;
      target = after(current);
    }
    if (expectedLongEnough) {
      expectedLongEnough = false;
      expectNoMore();
    }
    Resolver.Result result = found.getAndSet(null);
    if (result != null) {
      looking = false;
      looked(result);
    } else if (dueAfter == losses) {
      dueAfter = -1;
      look();
    } else if (looking && longLook == looks && !isUp()) {
      longLook = -1;
      socket.unresolved("the name " + endpoint.host() + " is still being looked up");
    }
    move();
  }

  /** An engine that restarts should be noticed before it is asked for anything. */
  private void expectBack() {
    lostNs = System.nanoTime();
    if (!expectsBack) {
      expectsBack = true;
      socket.reconnects(true);
      expectFor(EXPECTED_BACK);
    }
  }

  private void expectFor(Duration time) {
    resolver.later(
        () -> {
          expectedLongEnough = true;
          wake.run();
        },
        time);
  }

  private void expectNoMore() {
    Duration left = EXPECTED_BACK.minusNanos(System.nanoTime() - lostNs);
    if (left.isNegative() || left.isZero()) {
      expectsBack = false;
      socket.reconnects(false);
    } else {
      expectFor(left); // lost once more meanwhile
    }
  }

  private void looked(Resolver.Result result) {
    if (result.problem() != null) {
      if (!isUp()) {
        socket.unresolved(result.problem());
      }
    } else {
      addresses = result.addresses();
      tried = 0;
      boolean listed = current != null && addresses.contains(current);
      if (!listed) {
        target = addresses.get(0);
      } else if (!isUp() && !justLost) {
        target = after(current); // it had its time
      }
      justLost = false;
    }
    lookLater();
  }

  private InetAddress after(@Nullable InetAddress one) {
    return addresses.get((addresses.indexOf(one) + 1) % addresses.size());
  }

  private void look() {
    if (looking) {
      return;
    }
    looking = true;
    if (endpoint.isName()) {
      int look = ++looks;
      resolver.later(
          () -> {
            longLook = look;
            wake.run();
          },
          LONG);
      resolver.resolve(endpoint.host(), this::found);
    } else {
      found(Resolver.Result.of(addresses));
    }
  }

  /** Any thread. */
  private void found(Resolver.Result result) {
    found.set(result);
    wake.run();
  }

  private void lookLater() {
    int now = losses;
    if (isUp()) {
      if (endpoint.isName() && now > 0 && pause != ONCE_MORE) {
        pause = ONCE_MORE;
        lookAfter(now, pause);
      }
    } else if (endpoint.isName() || addresses.size() > 1) {
      lookAfter(now, pause);
      Duration doubled = pause.multipliedBy(2);
      pause = doubled.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : doubled;
    }
  }

  private void lookAfter(int loss, Duration wait) {
    resolver.later(
        () -> {
          dueAfter = loss;
          wake.run();
        },
        wait);
  }

  /** Goes where it should, as soon as what came by the way before is read. */
  private void move() {
    InetAddress next = target;
    if (next == null || next.equals(current)) {
      target = null;
      return;
    }
    if (socket.hasMessages()) {
      return;
    }
    target = null;
    current = next;
    String before;
    boolean stood;
    synchronized (this) {
      before = connectedTo;
      stood = up;
      up = false;
      broke = false;
      connectedTo = numeric(next, endpoint.port());
    }
    if (stood) {
      socket.dropped();
    }
    socket.connect(numeric(next, endpoint.port()), before);
  }
}
