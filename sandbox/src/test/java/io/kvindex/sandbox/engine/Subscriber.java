// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** A SUB or DEALER client of a simulated engine; every wait ends after 10 s. */
final class Subscriber implements AutoCloseable {
  private static final int TIMEOUT_MS = 10_000;

  /**
   * JeroMQ 0.6 loses the handshake of some 1-6 % of fresh connects (zeromq/jeromq#1022); the timer
   * makes it connect again, after 30 s by default.
   */
  private static final int HANDSHAKE_MS = 300;

  private final ZContext context = new ZContext();

  ZMQ.Socket subscribe(SimulatedEngine engine) {
    ZMQ.Socket sub = context.createSocket(SocketType.SUB);
    sub.setReceiveTimeOut(TIMEOUT_MS);
    sub.subscribe(new byte[0]);
    sub.setHandshakeIvl(HANDSHAKE_MS);
    sub.connect(engine.endpoint());
    return sub;
  }

  ZMQ.Socket dealer(SimulatedEngine engine) {
    ZMQ.Socket dealer = context.createSocket(SocketType.DEALER);
    dealer.setReceiveTimeOut(TIMEOUT_MS);
    dealer.setHWM(0);
    dealer.setHandshakeIvl(HANDSHAKE_MS);
    dealer.connect(engine.replayEndpoint());
    return dealer;
  }

  static List<byte[]> receive(ZMQ.Socket socket) {
    List<byte[]> frames = new ArrayList<>();
    do {
      frames.add(Objects.requireNonNull(socket.recv(), "nothing within 10 s"));
    } while (socket.hasReceiveMore());
    return frames;
  }

  /** All replies up to and with the end marker. */
  static List<List<byte[]>> replay(ZMQ.Socket dealer, byte[] start) {
    dealer.send(new byte[0], ZMQ.SNDMORE);
    dealer.send(start);
    List<List<byte[]>> replies = new ArrayList<>();
    do {
      replies.add(receive(dealer));
    } while (last(replies.get(replies.size() - 1)).length > 0);
    return replies;
  }

  static byte[] last(List<byte[]> frames) {
    return frames.get(frames.size() - 1);
  }

  @Override
  public void close() {
    context.close();
  }
}
