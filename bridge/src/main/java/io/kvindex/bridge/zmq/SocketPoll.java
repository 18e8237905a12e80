// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.zeromq.ZMQ;

/** The set of sockets polled together with the wake-up. Loop thread only. */
final class SocketPoll implements AutoCloseable {

  private static final int NOT_POLLED = -1;

  private final ZMQ.Poller poller;
  private final Map<Inlet, Integer> slots = new LinkedHashMap<>();

  SocketPoll(ZMQ.Context context, WakeUp wake) {
    poller = context.poller(64);
    poller.register(wake.channel(), ZMQ.Poller.POLLIN);
  }

  /** Polls a socket from now on. */
  void add(Inlet inlet) {
    slots.put(inlet, NOT_POLLED);
  }

  /** Polls a socket no more. */
  void remove(Inlet inlet) {
    Integer slot = slots.remove(inlet);
    if (slot != null && slot != NOT_POLLED) {
      poller.unregister(inlet.socket());
    }
  }

  /** All sockets; a copy, since readers may close theirs. */
  List<Inlet> inlets() {
    return new ArrayList<>(slots.keySet());
  }

  /** Waits for messages where they are wanted and hands them on. */
  void await(IoLoop.Gate gate, long timeoutMs) {
    for (Map.Entry<Inlet, Integer> entry : slots.entrySet()) {
      Inlet inlet = entry.getKey();
      boolean polled = entry.getValue() != NOT_POLLED;
      boolean wanted = inlet.wantsMessages();
      if (wanted && !polled) {
        entry.setValue(poller.register(inlet.socket(), ZMQ.Poller.POLLIN));
      } else if (!wanted && polled) {
        poller.unregister(inlet.socket());
        entry.setValue(NOT_POLLED);
      }
    }
    if (poller.poll(timeoutMs) <= 0) {
      return;
    }
    for (Inlet inlet : inlets()) {
      Integer slot = slots.get(inlet);
      if (slot != null && slot != NOT_POLLED && poller.pollin(slot)) {
        inlet.read(gate);
      }
    }
  }

  @Override
  public void close() {
    inlets().forEach(Inlet::close);
    poller.close();
  }
}
