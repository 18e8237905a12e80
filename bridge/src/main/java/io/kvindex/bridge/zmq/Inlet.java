// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import io.kvindex.model.registration.Endpoint;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * A subscribing socket and who reads it. One we connect has one reader. One we bind may have
 * several, told apart by topic, because a port is bound once however many engines connect to it.
 * Loop thread only; connections are told by a thread of ZeroMQ.
 */
final class Inlet {

  /** Then it is others' turn: each may take a tenth of a millisecond. */
  private static final int MESSAGES_A_TURN = 32;

  private static final int EVENTS =
      ZMQ.EVENT_HANDSHAKE_PROTOCOL | ZMQ.EVENT_ACCEPTED | ZMQ.EVENT_DISCONNECTED | ZMQ.EVENT_CLOSED;

  /** A reader's part of the socket. */
  private record Branch(
      String topic, byte[] prefix, IoLoop.Reader reader, IoLoop.Listener listener) {}

  private final Endpoint endpoint;
  private final ZMQ.Socket socket;

  /**
   * What polls it now, null = nothing does; asked by item: places in a poller move up when one
   * before them is taken out.
   */
  private ZMQ.@Nullable PollItem item;

  /** Null where it is bound. */
  private final @Nullable Route route;

  /** Connections to a bound socket. */
  private final Set<Object> peers = ConcurrentHashMap.newKeySet();

  // Longest topic first, so that the most specific reader gets a message. Read by ZeroMQ's thread.
  private final CopyOnWriteArrayList<Branch> branches = new CopyOnWriteArrayList<>();

  /**
   * A socket nobody reads yet; {@link #add} one, then {@link #open} it: so nobody misses its first
   * connection.
   *
   * @param highWaterMark messages kept by ZeroMQ for us before they wait at the publisher
   */
  Inlet(IoLoop loop, Endpoint endpoint, int highWaterMark) {
    this.endpoint = endpoint;
    socket = loop.context().socket(SocketType.SUB);
    SocketOptions.apply(socket, highWaterMark);
    socket.setEventHook(this::onEvent, EVENTS);
    route = endpoint.isBound() ? null : new Route(endpoint, loop, this);
  }

  /**
   * Connects, which may have to wait for its name, or binds.
   *
   * @throws RuntimeException if its port is taken
   */
  void open() {
    if (route == null) {
      bind(endpoint.port());
    } else {
      route.open();
    }
  }

  /**
   * Binds a port of all interfaces, of both IP versions where the host has both.
   *
   * @throws RuntimeException if the port is taken
   */
  private void bind(int port) {
    String address = "tcp://*:" + port;
    try {
      check(socket.bind(address));
    } catch (ZMQException e) {
      if (e.getErrorCode() == ZMQ.Error.EADDRINUSE.getCode()) {
        // Not bound by half: the version that is free would look like all of it.
        throw new IllegalStateException("port " + port + " is in use by another socket", e);
      }
      socket.setIPv6(false); // a host without IPv6
      check(socket.bind(address));
    }
  }

  private void check(boolean done) {
    if (!done) {
      throw new IllegalStateException("ZeroMQ error " + socket.errno());
    }
  }

  Endpoint endpoint() {
    return endpoint;
  }

  ZMQ.Socket socket() {
    return socket;
  }

  /** Has it polled where messages are wanted, else not. */
  void poll(ZMQ.Poller poller) {
    if (!wantsMessages()) {
      rest(poller);
    } else if (item == null) {
      item = new ZMQ.PollItem(socket, ZMQ.Poller.POLLIN);
      poller.register(item);
    }
  }

  /** Has it polled no more. */
  void rest(ZMQ.Poller poller) {
    if (item != null) {
      poller.unregister(socket);
      item = null;
    }
  }

  /** Whether the poll found messages. */
  boolean isReadable() {
    return item != null && item.isReadable();
  }

  /**
   * Hands messages of a topic to that reader from now on.
   *
   * @throws IllegalStateException if another reader has that very topic
   */
  void add(String topic, IoLoop.Reader reader, IoLoop.Listener listener) {
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
      byte[] first = branches.isEmpty() ? null : socket.recv(ZMQ.DONTWAIT);
      if (first == null) {
        if (route != null) {
          route.step(); // it may have waited for the last message
        }
        return;
      }
      List<byte[]> frames = Multipart.from(first, socket);
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

  /** Called by a thread of ZeroMQ. */
  private void onEvent(ZEvent event) {
    switch (event.getEvent()) {
      case ACCEPTED -> peers.add(event.getValue());
      case DISCONNECTED, CLOSED -> onGone(event.getAddress(), event.getValue());
      default -> { // the other side speaks ZMTP
        if (route == null || route.connected(event.getAddress())) {
          branches.forEach(branch -> branch.listener().connected());
        }
      }
    }
  }

  /** A connection is gone, or did not come about. */
  private void onGone(String address, Object channel) {
    boolean last = route == null ? peers.remove(channel) && peers.isEmpty() : route.lost(address);
    if (last) {
      dropped();
    }
  }

  /**
   * Connects to that address alone.
   *
   * @param address in numbers: a name would be looked up by this thread
   * @param before the one it was connected to, null = none; what came from there and was not read
   *     yet is lost
   */
  void connect(String address, @Nullable String before) {
    if (before != null) {
      socket.disconnect(before);
    }
    check(socket.connect(address));
  }

  /** Whether messages wait that would be lost with the connection they came by. */
  boolean hasMessages() {
    return (socket.getEvents() & ZMQ.Poller.POLLIN) != 0;
  }

  /** A connection was given up though it stood, or is gone. */
  void dropped() {
    branches.forEach(branch -> branch.listener().disconnected());
  }

  /** Its name has no address, or none yet. */
  void unresolved(String problem) {
    branches.forEach(branch -> branch.listener().unresolved(problem));
  }
}
