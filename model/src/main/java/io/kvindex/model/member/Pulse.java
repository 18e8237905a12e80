// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.member;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Asks a process over HTTP whether it is well, again and again, without ever waiting for it. What
 * it says does not matter: any byte, or closing the connection, is a sign of life. The connection
 * is kept, as a new one costs who is asked more than the answer does. For one thread.
 */
final class Pulse implements AutoCloseable {

  private static final byte[] QUESTION =
      "GET /health HTTP/1.1\r\nHost: kvindex\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  /**
   * After so long without an answer a new connection is made: a machine that is gone takes none,
   * and one behind a network that forgot the old connection answers.
   */
  private static final long AGAIN_NS = TimeUnit.MILLISECONDS.toNanos(500);

  /** What it owed before it was asked again counts so far: for two looks more. */
  private static final long MOST_OWED_BEFORE_NS = 2 * AGAIN_NS;

  private final InetSocketAddress address;
  private final ByteBuffer answer = ByteBuffer.allocate(1024);
  private @Nullable SocketChannel connection;

  /** Whether the question is on its way: the process' machine has taken the connection. */
  private boolean asked;

  /** Whether it ever answered: what listens there may speak something else. */
  private boolean answers;

  private long askedNs;

  /** Whether the question is asked again, as its connection may be what is gone. */
  private boolean again;

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
      take();
      if (asked && !again && nowNs - askedNs >= AGAIN_NS) {
        close();
        again = true;
      }
      if (!asked) {
        ask(nowNs);
      }
    } catch (IOException e) {
      // A dead connection says nothing of the process; its port is looked at anyway.
      close();
    }
  }

  private void take() throws IOException {
    for (int read = 1; read > 0 && isConnected(); ) {
      answer.clear();
      read = Objects.requireNonNull(connection).read(answer);
      if (read != 0) {
        answers |= asked;
        asked = false;
        again = false;
      }
      if (read < 0) {
        close();
      }
    }
  }

  /** Whether it has a connection, which its machine would have ended with the process. */
  boolean isConnected() {
    return connection != null && connection.isConnected();
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
      askedNs = again ? Math.max(askedNs, nowNs - MOST_OWED_BEFORE_NS) : nowNs;
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
