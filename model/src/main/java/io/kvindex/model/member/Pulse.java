// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.member;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Asks a process over HTTP whether it is well, again and again, without ever waiting for it. What
 * it says does not matter: any byte, or closing the connection, is a sign of life. For one thread.
 */
final class Pulse implements AutoCloseable {

  private static final byte[] QUESTION =
      "GET /health HTTP/1.1\r\nHost: kvindex\r\nConnection: close\r\n\r\n"
          .getBytes(StandardCharsets.US_ASCII);

  private final InetSocketAddress address;
  private final ByteBuffer answer = ByteBuffer.allocate(64);
  private @Nullable SocketChannel connection;

  /** Whether the question is on its way: the process' machine has taken the connection. */
  private boolean asked;

  /** Whether it ever answered: what listens there may speak something else. */
  private boolean answers;

  private long askedNs;

  private Pulse(InetSocketAddress address) {
    this.address = address;
  }

  /** Asks where its name says that it listens; null = that can not be looked up now. */
  static @Nullable Pulse of(MemberName process) {
    InetSocketAddress address = new InetSocketAddress(process.host(), process.port());
    return address.isUnresolved() ? null : new Pulse(address);
  }

  /** Takes the answer if there is one, and asks if nothing is being asked. */
  void look(long nowNs) {
    try {
      if (asked && hasAnswered()) {
        answers = true;
        close();
      }
      if (!asked) {
        ask(nowNs);
      }
    } catch (IOException e) {
      // A dead connection says nothing of the process; its port is looked at anyway.
      close();
    }
  }

  private boolean hasAnswered() throws IOException {
    answer.clear();
    return connection != null && connection.read(answer) != 0;
  }

  private void ask(long nowNs) throws IOException {
    if (connection == null) {
      connection = SocketChannel.open();
      connection.configureBlocking(false);
      connection.setOption(StandardSocketOptions.TCP_NODELAY, true);
      connection.connect(address);
    }
    if (connection.isConnected() || connection.finishConnect()) {
      connection.write(ByteBuffer.wrap(QUESTION)); // fits into the empty buffer of a socket
      asked = true;
      askedNs = nowNs;
    }
  }

  /** How long it has owed an answer, in ns; 0 = it does not, or never gave one. */
  long owedNs(long nowNs) {
    return asked && answers ? nowNs - askedNs : 0;
  }

  /** Counts anew what it owes: whoever asks has been standing still himself. */
  void restart(long nowNs) {
    askedNs = nowNs;
  }

  /** Judges it no more until it has answered again. */
  void forgive() {
    answers = false;
  }

  /** Gives up what is being asked. */
  @Override
  public void close() {
    SocketChannel open = connection;
    connection = null;
    asked = false;
    if (open != null) {
      try {
        open.close();
      } catch (IOException e) {
        return; // it is of no more use either way
      }
    }
  }
}
