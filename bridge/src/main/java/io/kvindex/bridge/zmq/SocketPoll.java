// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.zeromq.ZMQ;

/** The set of sockets polled together with the wake-up. Loop thread only. */
final class SocketPoll implements AutoCloseable {

  private final ZMQ.Poller poller;
  private final Set<Inlet> inlets = new LinkedHashSet<>();

  /**
   * Those polled now, asked by item: places in the poller move up when one before them is taken
   * out.
   */
  private final Map<Inlet, ZMQ.PollItem> polled = new HashMap<>();

  SocketPoll(ZMQ.Context context, WakeUp wake) {
    poller = context.poller(64);
    poller.register(wake.channel(), ZMQ.Poller.POLLIN);
  }

  /** Polls a socket from now on. */
  void add(Inlet inlet) {
    inlets.add(inlet);
  }

  /** Polls a socket no more. */
  void remove(Inlet inlet) {
    inlets.remove(inlet);
    rest(inlet);
  }

  private void rest(Inlet inlet) {
    if (polled.remove(inlet) != null) {
      poller.unregister(inlet.socket());
    }
  }

  /** All sockets; a copy, since readers may close theirs. */
  List<Inlet> inlets() {
    return new ArrayList<>(inlets);
  }

  /** Waits for messages where they are wanted and hands them on. */
  void await(IoLoop.Gate gate, long timeoutMs) {
    for (Inlet inlet : inlets) {
      boolean wanted = inlet.wantsMessages();
      if (!wanted) {
        rest(inlet);
      } else if (!polled.containsKey(inlet)) {
        ZMQ.PollItem item = new ZMQ.PollItem(inlet.socket(), ZMQ.Poller.POLLIN);
        polled.put(inlet, item);
        poller.register(item);
      }
    }
    if (poller.poll(timeoutMs) <= 0) {
      return;
    }
    for (Inlet inlet : inlets()) {
      ZMQ.PollItem item = polled.get(inlet);
      if (item != null && item.isReadable()) {
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
