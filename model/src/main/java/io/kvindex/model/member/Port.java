// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.member;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import org.jspecify.annotations.Nullable;

/** What the port of a process, where its name says it is, tells of the process. */
enum Port {
  /** Somebody listens. */
  OPEN,

  /** Its machine says that nobody does. */
  CLOSED,

  /** No such name, no way there, no answer: it may be well. */
  UNKNOWN;

  private static final int CONNECT_MS = 250;

  /**
   * Looks, for a quarter of a second at most and as long as it takes to find the address.
   *
   * @param sameMachine whether the process runs where this one does: else an address of this
   *     machine means another process here, as each machine has a loopback address, and those of
   *     container bridges are often the same
   */
  static Port of(MemberName process, boolean sameMachine) {
    InetSocketAddress address = new InetSocketAddress(process.host(), process.port());
    try (Socket socket = new Socket()) {
      if (!sameMachine && isOfThisMachine(address.getAddress())) {
        return UNKNOWN;
      }
      socket.connect(address, CONNECT_MS);
      return OPEN;
    } catch (ConnectException e) {
      return CLOSED;
    } catch (IOException e) {
      return UNKNOWN;
    }
  }

  private static boolean isOfThisMachine(@Nullable InetAddress address) throws IOException {
    return address != null
        && (address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null);
  }
}
