// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.model.registration.Endpoint;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
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

  private final Endpoint endpoint;
  private final IoLoop loop;
  private final Inlet socket;

  /** Has {@link #step} called by the loop. */
  private final IoLoop.Signal wake;

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

  private boolean closed;

  /** Counts connections lost, so that a pause from before says nothing. */
  private int losses;

  /** When the last connection was lost, {@link System#nanoTime}. */
  private long lostNs;

  /** Whether it is tried often to connect again, until a timer says that it was long enough. */
  private boolean expectsBack;

  private boolean justLost;

  // What ZeroMQ's thread says.
  private @Nullable String connectedTo;
  private volatile boolean up;
  private final AtomicBoolean broke = new AtomicBoolean();
  private final AtomicBoolean refused = new AtomicBoolean();

  Route(Endpoint endpoint, IoLoop loop, Inlet socket) {
    this.endpoint = endpoint;
    this.loop = loop;
    this.socket = socket;
    wake = loop.signal(this::step);
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
    wake.raise();
    return true;
  }

  /** A connection is gone or has not come about; whether it was the one of this route. */
  synchronized boolean lost(String address) {
    if (!address.equals(connectedTo)) {
      return false;
    }
    boolean others = addresses.size() > 1;
    if (up) {
      broke.set(true);
    } else if (others) {
      refused.set(true);
    }
    up = false;
    if (broke.get() || others) {
      wake.raise(); // else ZeroMQ goes on trying, hundreds of engines that are gone at a time
    }
    return true;
  }

  /** Goes on with what ZeroMQ's thread says. */
  void step() {
    goOn(() -> {});
  }

  /** Goes on with something, behind what ZeroMQ's thread says. */
  private void goOn(Runnable something) {
    if (!closed) {
      takeNews();
      something.run();
      move();
    }
  }

  private void later(Duration time, Runnable something) {
    loop.later(() -> goOn(something), time);
  }

  private void takeNews() {
    boolean wasRefused = refused.getAndSet(false);
    if (broke.getAndSet(false)) {
      losses++;
      expectBack();
      justLost = true;
      pause = FIRST_PAUSE;
      tried = 0;
      look();
    } else if (wasRefused && tried + 1 < addresses.size() && target == null) {
      tried++;
      target = addressAfter(current);
    }
  }

  /** An engine that restarts should be noticed before it is asked for anything. */
  private void expectBack() {
    lostNs = System.nanoTime();
    if (!expectsBack) {
      expectsBack = true;
      SocketOptions.reconnects(socket.socket(), true);
      later(EXPECTED_BACK, this::expectNoMore);
    }
  }

  private void expectNoMore() {
    Duration left = EXPECTED_BACK.minusNanos(System.nanoTime() - lostNs);
    if (left.isNegative() || left.isZero()) {
      expectsBack = false;
      SocketOptions.reconnects(socket.socket(), false);
    } else {
      later(left, this::expectNoMore); // lost once more meanwhile
    }
  }

  private void looked(Resolver.Result result) {
    looking = false;
    if (result.problem() != null) {
      if (!up) {
        socket.unresolved(result.problem());
      }
    } else {
      addresses = result.addresses();
      tried = 0;
      boolean listed = current != null && addresses.contains(current);
      if (!listed) {
        target = addresses.get(0);
      } else if (!up && !justLost) {
        target = addressAfter(current); // it had its time
      }
      justLost = false;
    }
    lookLater();
  }

  private InetAddress addressAfter(@Nullable InetAddress one) {
    return addresses.get((addresses.indexOf(one) + 1) % addresses.size());
  }

  private void look() {
    if (looking) {
      return;
    }
    looking = true;
    if (!endpoint.isName()) {
      found(Resolver.Result.of(addresses));
      return;
    }
    int look = ++looks;
    later(
        LONG,
        () -> {
          if (looking && look == looks && !up) {
            socket.unresolved("the name " + endpoint.host() + " is still being looked up");
          }
        });
    loop.resolver().resolve(endpoint.host(), this::found);
  }

  /** Any thread. */
  private void found(Resolver.Result result) {
    later(Duration.ZERO, () -> looked(result));
  }

  private void lookLater() {
    int now = losses;
    if (up) {
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
    later(
        wait,
        () -> {
          if (loss == losses) {
            look();
          }
        });
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
      broke.set(false);
      connectedTo = numeric(next, endpoint.port());
    }
    if (stood) {
      socket.dropped();
    }
    socket.connect(numeric(next, endpoint.port()), before);
  }
}
