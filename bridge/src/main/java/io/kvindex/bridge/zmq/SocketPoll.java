// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.util.HashMap;
import java.util.Map;
import org.zeromq.ZMQ;

/** The set of sockets polled together with the wake-up. Loop thread only. */
final class SocketPoll implements AutoCloseable {

  private final ZMQ.Poller poller;
  private final Map<SubSocket, Integer> slots = new HashMap<>();

  SocketPoll(ZMQ.Context context, WakeUp wake) {
    poller = context.poller(64);
    poller.register(wake.channel(), ZMQ.Poller.POLLIN);
  }

  /** Waits for messages of those who want some and lets them read. */
  void await(Map<SubSocket, IoLoop.Reader> readers, long timeoutMs) {
    for (Map.Entry<SubSocket, IoLoop.Reader> entry : readers.entrySet()) {
      SubSocket socket = entry.getKey();
      boolean wanted = entry.getValue().wantsFrames();
      if (wanted && !slots.containsKey(socket)) {
        slots.put(socket, poller.register(socket.socket(), ZMQ.Poller.POLLIN));
      } else if (!wanted) {
        forget(socket);
      }
    }
    if (poller.poll(timeoutMs) <= 0) {
      return;
    }
    // Copied: a reader may close its socket, which changes both maps.
    for (Map.Entry<SubSocket, IoLoop.Reader> entry : Map.copyOf(readers).entrySet()) {
      Integer slot = slots.get(entry.getKey());
      if (slot != null && poller.pollin(slot)) {
        entry.getValue().onReadable(entry.getKey());
      }
    }
  }

  void forget(SubSocket socket) {
    if (slots.remove(socket) != null) {
      poller.unregister(socket.socket());
    }
  }

  @Override
  public void close() {
    poller.close();
  }
}
