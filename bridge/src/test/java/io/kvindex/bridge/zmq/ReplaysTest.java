// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.ZMQ;

/** Whether a question is put over a second connection, and when it is not. */
@Timeout(30)
class ReplaysTest {

  private static final Duration LONG = Duration.ofSeconds(20);
  private static final ReplayPolicy ONCE = new ReplayPolicy(2, LONG, 1, 1, 1, Duration.ZERO);

  private final ZMQ.Context context = ZMQ.context(1);
  private final Replays replays = new Replays(context, ONCE);
  private final List<Socket> accepted = new CopyOnWriteArrayList<>();
  private final ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());

  ReplaysTest() throws IOException {}

  @AfterEach
  void close() throws Exception {
    replays.close();
    context.close();
    server.close();
    for (Socket socket : accepted) {
      socket.close();
    }
  }

  @Test
  void shouldAskOverASecondConnection_whenTheFirstGetsNoHandshake() throws Exception {
    ask(false);
    Socket first = accept();
    accept();
    // JeroMQ gives the first one up after a second only: it is still there.
    assertThat(isOpen(first)).isTrue();
  }

  @Test
  void shouldAskOverOneConnection_whenThereIsAHandshakeAndNoAnswer() throws Exception {
    ask(false);
    Socket first = accept();
    greet(first);
    server.setSoTimeout(500);
    assertThat(isConnectedAgain()).isFalse();
  }

  @Test
  void shouldAskOverOneConnection_whenTheEndpointWasSilentBefore() throws Exception {
    ask(true);
    accept();
    server.setSoTimeout(500);
    assertThat(isConnectedAgain()).isFalse();
  }

  private void ask(boolean doubted) {
    replays.start(
        "tcp://127.0.0.1:" + server.getLocalPort(), null, doubted, Duration.ZERO, new Nobody());
  }

  private Socket accept() throws IOException {
    Socket socket = server.accept();
    accepted.add(socket);
    return socket;
  }

  private boolean isConnectedAgain() throws IOException {
    try {
      accept();
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    }
  }

  private static boolean isOpen(Socket socket) throws IOException {
    socket.setSoTimeout(1);
    try {
      while (socket.getInputStream().read() >= 0) {}
      return false;
    } catch (SocketTimeoutException e) {
      return true;
    }
  }

  /** The greeting of ZMTP 3.0 with no security, and nothing behind it. */
  private static void greet(Socket socket) throws IOException {
    byte[] greeting = new byte[64];
    greeting[0] = (byte) 0xff;
    greeting[9] = 0x7f;
    greeting[10] = 3;
    byte[] mechanism = "NULL".getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(mechanism, 0, greeting, 12, mechanism.length);
    socket.getOutputStream().write(greeting);
  }

  private static final class Nobody implements ReplayFeed.Listener {
    @Override
    public void changed() {}

    @Override
    public void discarded(ReplayFeed.Discard why, long count) {}
  }
}
