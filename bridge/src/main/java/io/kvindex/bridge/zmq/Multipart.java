// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.util.ArrayList;
import java.util.List;
import org.zeromq.ZMQ;

/** Messages of several frames. A socket gives all of one or nothing. */
final class Multipart {
  private Multipart() {}

  /** The frames of the message whose first one was just received. */
  static List<byte[]> from(byte[] first, ZMQ.Socket socket) {
    List<byte[]> frames = new ArrayList<>(4);
    frames.add(first);
    while (socket.hasReceiveMore()) {
      frames.add(socket.recv());
    }
    return frames;
  }
}
