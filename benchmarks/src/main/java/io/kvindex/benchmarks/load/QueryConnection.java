// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * One keep-alive connection with one query under way. Used by the load's thread only; allocates a
 * view of each buffer a request is made of.
 */
final class QueryConnection {
  private static final int SEND_BUFFER = 1 << 19; // a 32k prompt in one or two writes
  private static final int ANSWER_BYTES = 1 << 18;
  private static final byte[] LENGTH = {
    'c', 'o', 'n', 't', 'e', 'n', 't', '-', 'l', 'e', 'n', 'g', 't', 'h', ':'
  };

  private final PromptBodies bodies;
  private final ByteBuffer[] parts;
  private final ByteBuffer answer = ByteBuffer.allocateDirect(ANSWER_BYTES);
  private final SocketChannel channel;
  private final SelectionKey key;
  private int request;
  private long startedNanos;
  private int bodyStart;
  private int bodyLength;

  QueryConnection(PromptBodies bodies, String host, int port, Selector selector)
      throws IOException {
    this.bodies = bodies;
    parts = new ByteBuffer[bodies.parts()];
    channel = SocketChannel.open();
    channel.setOption(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.connect(new InetSocketAddress(host, port));
    channel.configureBlocking(false);
    key = channel.register(selector, SelectionKey.OP_READ, this);
  }

  /** Sends a query; the clock starts before its first byte leaves. */
  void send(int nextRequest) throws IOException {
    request = nextRequest;
    bodies.fill(request, parts);
    answer.clear();
    bodyLength = -1;
    startedNanos = System.nanoTime();
    write();
  }

  private void write() throws IOException {
    channel.write(parts);
    boolean done = !parts[parts.length - 1].hasRemaining();
    int interest = done ? SelectionKey.OP_READ : SelectionKey.OP_WRITE;
    if (key.interestOps() != interest) {
      key.interestOps(interest);
    }
  }

  /** Goes on where the socket is ready; true when the answer is complete. */
  boolean advance() throws IOException {
    if (key.isWritable()) {
      write();
      return false;
    }
    if (channel.read(answer) < 0) {
      throw new EOFException("the server closed a connection");
    }
    if (bodyLength < 0) {
      readHead();
    }
    return bodyLength >= 0 && answer.position() >= bodyStart + bodyLength;
  }

  private void readHead() throws IOException {
    int end = answer.position();
    int line = 0;
    int length = -1;
    for (int i = 0; i + 1 < end; i++) {
      if (answer.get(i) != '\r' || answer.get(i + 1) != '\n') {
        continue;
      }
      if (i == line) {
        if (length < 0) {
          throw new IOException("an answer without Content-Length");
        }
        bodyStart = i + 2;
        bodyLength = length;
        return;
      }
      length = Math.max(length, contentLength(line, i));
      line = i + 2;
    }
  }

  private int contentLength(int from, int to) {
    if (to - from <= LENGTH.length) {
      return -1;
    }
    for (int i = 0; i < LENGTH.length; i++) {
      if ((answer.get(from + i) | (LENGTH[i] >= 'a' ? 0x20 : 0)) != LENGTH[i]) {
        return -1;
      }
    }
    int value = 0;
    for (int i = from + LENGTH.length; i < to; i++) {
      int digit = answer.get(i) - '0';
      value = digit < 0 || digit > 9 ? value : value * 10 + digit;
    }
    return value;
  }

  /** Whether the status line says 200. */
  boolean ok() {
    return answer.get(9) == '2' && answer.get(10) == '0' && answer.get(11) == '0';
  }

  byte[] body() {
    byte[] bytes = new byte[bodyLength];
    answer.get(bodyStart, bytes);
    return bytes;
  }

  int request() {
    return request;
  }

  long startedNanos() {
    return startedNanos;
  }

  void close() throws IOException {
    channel.close();
  }
}
