// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;
import org.zeromq.ZMQException;

/**
 * A subscribing socket. Used by the I/O thread only; the monitor is called by a thread of ZeroMQ.
 */
public final class SubSocket implements AutoCloseable {

  private static final int EVENTS =
      ZMQ.EVENT_HANDSHAKE_PROTOCOL | ZMQ.EVENT_ACCEPTED | ZMQ.EVENT_DISCONNECTED | ZMQ.EVENT_CLOSED;

  /** Told of a publisher's connections, by a ZeroMQ thread; must not block. */
  public interface Listener {
    /** A peer is connected (again): what it sends from about now on arrives. */
    void connected();

    /** No peer is connected any more; ZeroMQ goes on trying. */
    void disconnected();

    /**
     * There is nothing to connect to: the name has no address. It is looked up again. Called by the
     * I/O thread.
     */
    default void unresolved(String problem) {}
  }

  /** Told of each connection, by a ZeroMQ thread; must not block. */
  interface Monitor {
    /** Somebody connected to a bound socket, who has not said anything yet. */
    void accepted(Object channel);

    /** The other side speaks ZMTP. */
    void speaks(String address);

    /** A connection is gone, or did not come about. */
    void gone(String address, Object channel);
  }

  private final ZMQ.Socket socket;

  private SubSocket(ZMQ.Socket socket) {
    this.socket = socket;
  }

  /**
   * A socket that is not open yet, so that nobody misses its first connection.
   *
   * @param highWaterMark messages kept by ZeroMQ for us before they wait at the publisher
   */
  static SubSocket create(ZMQ.Context context, int highWaterMark, Monitor monitor) {
    ZMQ.Socket socket = context.socket(SocketType.SUB);
    SocketOptions.apply(socket, highWaterMark);
    socket.setEventHook(event -> dispatch(event, monitor), EVENTS);
    return new SubSocket(socket);
  }

  private static void dispatch(ZEvent event, Monitor monitor) {
    switch (event.getEvent()) {
      case ACCEPTED -> monitor.accepted(event.getValue());
      case DISCONNECTED, CLOSED -> monitor.gone(event.getAddress(), event.getValue());
      default -> monitor.speaks(event.getAddress());
    }
  }

  /**
   * Binds a port of all interfaces, of both IP versions where the host has both.
   *
   * @throws RuntimeException if the port is taken
   */
  void bind(int port) {
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

  /**
   * Connects to an address.
   *
   * @param address in numbers: a name would be looked up by this thread
   */
  void connect(String address) {
    check(socket.connect(address));
  }

  /** See {@link SocketOptions#reconnects}. */
  void reconnects(boolean soon) {
    SocketOptions.reconnects(socket, soon);
  }

  /** Takes {@link #connect} back; what came by that connection and was not read yet is lost. */
  void disconnect(String address) {
    socket.disconnect(address);
  }

  private void check(boolean done) {
    if (!done) {
      throw new IllegalStateException("ZeroMQ error " + socket.errno());
    }
  }

  /** Whether {@link #receive} would give something. */
  boolean hasMessages() {
    return (socket.getEvents() & ZMQ.Poller.POLLIN) != 0;
  }

  /** Asks for messages whose topic begins so. */
  void subscribe(byte[] topic) {
    socket.subscribe(topic);
  }

  /** Takes {@link #subscribe} back. */
  void unsubscribe(byte[] topic) {
    socket.unsubscribe(topic);
  }

  /** The next message's frames, null if none is waiting. */
  @Nullable List<byte[]> receive() {
    byte[] first = socket.recv(ZMQ.DONTWAIT);
    return first == null ? null : Multipart.from(first, socket);
  }

  ZMQ.Socket socket() {
    return socket;
  }

  @Override
  public void close() {
    socket.close();
  }
}
