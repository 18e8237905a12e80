// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import org.zeromq.ZMQ;

/** Options all our sockets share; values as Dynamo's listener has them where it sets any. */
final class SocketOptions {

  private static final int RECONNECT_FIRST_MS = 100;

  /**
   * An attempt takes JeroMQ some 0.6 ms: 500 publishers that are gone took 3 % of a core with 10 s
   * (ManyPublishersIT shows the sum).
   */
  private static final int RECONNECT_MAX_MS = 15_000;

  /** The same soon after a connection was lost: what restarts is up again within minutes. */
  private static final int RECONNECT_MAX_SOON_MS = 2_000;

  /**
   * JeroMQ 0.6.0 leaves 2-3 % of its TCP connections without a handshake for good (measured between
   * JeroMQ peers; seen in either role). With a limit it drops them and connects anew; its default
   * of 30 s would look like a dead engine.
   */
  private static final int HANDSHAKE_MS = 1_000;

  private static final int HEARTBEAT_MS = 2_000;

  /** Both together: how long an engine may be silently gone while its blocks are in answers. */
  private static final int HEARTBEAT_TIMEOUT_MS = 4_000;

  /** How long an engine goes on with us, who may stand still for a while. */
  private static final int HEARTBEAT_TTL_MS = 15_000;

  private SocketOptions() {}

  /**
   * How long is waited at most before it is connected again, for a socket that is open, too: JeroMQ
   * looks the option up each time (0.6.0, {@code Own} keeps the socket's own {@code Options}).
   *
   * @param soon whether the connection was lost a short while ago
   */
  static void reconnects(ZMQ.Socket socket, boolean soon) {
    socket.setReconnectIVLMax(soon ? RECONNECT_MAX_SOON_MS : RECONNECT_MAX_MS);
  }

  /** Sets them; to be called before connect or bind. */
  static void apply(ZMQ.Socket socket, int highWaterMark) {
    socket.setLinger(0);
    socket.setRcvHWM(highWaterMark);
    socket.setReconnectIVL(RECONNECT_FIRST_MS);
    reconnects(socket, false);
    socket.setHandshakeIvl(HANDSHAKE_MS);
    socket.setTCPKeepAlive(1);
    // A peer whose host vanished closes nothing: only the heartbeat tells.
    socket.setHeartbeatIvl(HEARTBEAT_MS);
    socket.setHeartbeatTimeout(HEARTBEAT_TIMEOUT_MS);
    socket.setHeartbeatTtl(HEARTBEAT_TTL_MS);
    // Both versions: of what an endpoint names in numbers nothing is preferred.
    socket.setIPv6(true);
  }
}
