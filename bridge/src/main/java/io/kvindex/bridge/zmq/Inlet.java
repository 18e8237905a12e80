// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.model.registration.Endpoint;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;

/**
 * A subscribing socket and who reads it. One we connect has one reader. One we bind may have
 * several, told apart by topic, because a port is bound once however many engines connect to it.
 * Loop thread only; connections are told by a thread of ZeroMQ.
 */
final class Inlet implements SubSocket.Monitor, Route.Led {

  private static final int MESSAGES_A_TURN = 256;

  /** A reader's part of the socket. */
  private record Branch(
      String topic, byte[] prefix, IoLoop.Reader reader, SubSocket.Listener listener) {}

  private final Endpoint endpoint;
  private final SubSocket socket;

  /** Null where it is bound. */
  private final @Nullable Route route;

  /** Connections to a bound socket. */
  private final Set<Object> peers = ConcurrentHashMap.newKeySet();

  // Longest topic first, so that the most specific reader gets a message. Read by ZeroMQ's thread.
  private final CopyOnWriteArrayList<Branch> branches = new CopyOnWriteArrayList<>();

  /**
   * A socket nobody reads yet; {@link #add} one, then {@link #open} it.
   *
   * @param signals makes the signal by which the loop is told to go on with the route
   */
  Inlet(
      ZMQ.Context context,
      Endpoint endpoint,
      int highWaterMark,
      Resolver resolver,
      Function<Runnable, IoLoop.Signal> signals) {
    this.endpoint = endpoint;
    this.socket = SubSocket.create(context, highWaterMark, this);
    if (endpoint.isBound()) {
      route = null;
    } else {
      IoLoop.Signal signal = signals.apply(this::step);
      route = new Route(endpoint, resolver, this, signal::raise);
    }
  }

  /**
   * Connects, which may have to wait for its name, or binds.
   *
   * @throws RuntimeException if its port is taken
   */
  void open() {
    if (route == null) {
      socket.bind(endpoint.port());
    } else {
      route.open();
    }
  }

  private void step() {
    if (route != null) {
      route.step();
    }
  }

  Endpoint endpoint() {
    return endpoint;
  }

  ZMQ.Socket socket() {
    return socket.socket();
  }

  /**
   * Hands messages of a topic to that reader from now on.
   *
   * @throws IllegalStateException if another reader has that very topic
   */
  void add(String topic, IoLoop.Reader reader, SubSocket.Listener listener) {
    if (branches.stream().anyMatch(branch -> branch.topic().equals(topic))) {
      throw new IllegalStateException(
          "topic \"" + topic + "\" is taken by another publisher; give each a topic of its own");
    }
    byte[] prefix = topic.getBytes(StandardCharsets.UTF_8);
    branches.add(new Branch(topic, prefix, reader, listener));
    branches.sort(Comparator.comparingInt(branch -> -branch.prefix().length));
    socket.subscribe(prefix);
  }

  /** Takes a reader away; whether it was the last one, so that the socket should be closed. */
  boolean remove(IoLoop.Reader reader) {
    for (Branch branch : branches) {
      if (branch.reader() == reader) {
        branches.remove(branch);
        socket.unsubscribe(branch.prefix());
      }
    }
    return branches.isEmpty();
  }

  void close() {
    if (route != null) {
      route.close();
    }
    socket.close();
  }

  /** Whether all of its readers have room; otherwise messages stay in ZeroMQ's buffer. */
  boolean wantsMessages() {
    for (Branch branch : branches) {
      if (!branch.reader().wantsMessages()) {
        return false;
      }
    }
    return true;
  }

  /** Hands on a bounded number of messages. */
  void read(IoLoop.Gate gate) {
    for (int i = 0; i < MESSAGES_A_TURN && wantsMessages() && gate.hasRoom(); i++) {
      // A reader may have closed the socket.
      List<byte[]> frames = branches.isEmpty() ? null : socket.receive();
      if (frames == null) {
        step(); // it may have waited for the last message
        return;
      }
      IoLoop.Reader reader = readerOf(frames.get(0));
      if (reader != null) {
        reader.onMessage(frames);
      }
    }
  }

  /** Null only for what was on its way when its reader left. */
  private IoLoop.@Nullable Reader readerOf(byte[] topic) {
    for (Branch branch : branches) {
      if (startsWith(topic, branch.prefix())) {
        return branch.reader();
      }
    }
    return null;
  }

  private static boolean startsWith(byte[] topic, byte[] prefix) {
    for (int i = 0; i < prefix.length; i++) {
      if (i >= topic.length || topic[i] != prefix[i]) {
        return false;
      }
    }
    return true;
  }

  /** The gate was closed and is open again. */
  void onReopened() {
    branches.forEach(branch -> branch.reader().onReopened());
  }

  @Override
  public void accepted(Object channel) {
    peers.add(channel);
  }

  @Override
  public void speaks(String address) {
    if (route == null || route.connected(address)) {
      branches.forEach(branch -> branch.listener().connected());
    }
  }

  @Override
  public void gone(String address, Object channel) {
    boolean last = route == null ? peers.remove(channel) && peers.isEmpty() : route.lost(address);
    if (last) {
      dropped();
    }
  }

  @Override
  public void connect(String address, @Nullable String before) {
    if (before != null) {
      socket.disconnect(before);
    }
    socket.connect(address);
  }

  @Override
  public void reconnects(boolean soon) {
    socket.reconnects(soon);
  }

  @Override
  public boolean hasMessages() {
    return socket.hasMessages();
  }

  @Override
  public void dropped() {
    branches.forEach(branch -> branch.listener().disconnected());
  }

  @Override
  public void unresolved(String problem) {
    branches.forEach(branch -> branch.listener().unresolved(problem));
  }
}
