// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;
import org.zeromq.ZMonitor;

/**
 * Subscription to one publisher. Used by the I/O thread only; the listener is called by a thread of
 * ZeroMQ.
 */
public final class SubSocket implements AutoCloseable {

  private static final int EVENTS =
      zmq.ZMQ.ZMQ_EVENT_HANDSHAKE_PROTOCOL | zmq.ZMQ.ZMQ_EVENT_DISCONNECTED;

  /** Told of connections, by a ZeroMQ thread; must not block. */
  public interface Listener {
    /** A peer is connected (again): what it sends from about now on arrives. */
    void connected();

    /** A peer is gone; ZeroMQ goes on trying. */
    void disconnected();
  }

  private final ZMQ.Socket socket;

  private SubSocket(ZMQ.Socket socket) {
    this.socket = socket;
  }

  /** Whether we have to bind, because the engine connects. */
  public static boolean isBindEndpoint(String endpoint) {
    return endpoint.contains("*");
  }

  /**
   * A socket that is not open yet, so that nobody misses its first connection.
   *
   * @param highWaterMark messages kept by ZeroMQ for us before they wait at the publisher
   */
  static SubSocket create(
      ZMQ.Context context, String endpoint, int highWaterMark, Listener listener) {
    ZMQ.Socket socket = context.socket(SocketType.SUB);
    SocketOptions.apply(socket, endpoint, highWaterMark);
    socket.setEventHook(event -> dispatch(event, listener), EVENTS);
    return new SubSocket(socket);
  }

  /**
   * Connects, or binds if the endpoint has a {@code *}.
   *
   * @throws RuntimeException if the endpoint is malformed, its host unknown or its port taken
   */
  void open(String endpoint) {
    boolean open = isBindEndpoint(endpoint) ? socket.bind(endpoint) : socket.connect(endpoint);
    if (!open) {
      throw new IllegalStateException("ZeroMQ error " + socket.errno());
    }
  }

  private static void dispatch(ZEvent event, Listener listener) {
    if (event.getEvent() == ZMonitor.Event.DISCONNECTED) {
      listener.disconnected();
    } else {
      listener.connected();
    }
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
