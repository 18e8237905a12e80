// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;

/**
 * A subscribing socket and who reads it. One we connect has one reader. One we bind may have
 * several, told apart by topic, because a port is bound once however many engines connect to it.
 * Loop thread only; connections are told by a thread of ZeroMQ.
 */
final class Inlet implements SubSocket.Listener {

  private static final int MESSAGES_A_TURN = 256;

  /** A reader's part of the socket. */
  private record Branch(
      String topic, byte[] prefix, IoLoop.Reader reader, SubSocket.Listener listener) {}

  private final String endpoint;
  private final SubSocket socket;
  // Longest topic first, so that the most specific reader gets a message. Read by ZeroMQ's thread.
  private final CopyOnWriteArrayList<Branch> branches = new CopyOnWriteArrayList<>();

  /** A socket nobody reads yet; {@link #add} one, then {@link #open} it. */
  Inlet(ZMQ.Context context, String endpoint, int highWaterMark) {
    this.endpoint = endpoint;
    this.socket = SubSocket.create(context, endpoint, highWaterMark, this);
  }

  /**
   * Connects, or binds if the endpoint has a {@code *}.
   *
   * @throws RuntimeException if the endpoint is malformed, its host unknown or its port taken
   */
  void open() {
    socket.open(endpoint);
  }

  String endpoint() {
    return endpoint;
  }

  ZMQ.Socket socket() {
    return socket.socket();
  }

  /**
   * Hands messages of a topic to that reader from now on.
   *
   * @throws IllegalStateException if another reader has that very topic
   */
  void add(String topic, IoLoop.Reader reader, SubSocket.Listener listener) {
    if (branches.stream().anyMatch(branch -> branch.topic().equals(topic))) {
      throw new IllegalStateException(
          "topic \"" + topic + "\" is taken by another publisher; give each a topic of its own");
    }
    byte[] prefix = topic.getBytes(StandardCharsets.UTF_8);
    branches.add(new Branch(topic, prefix, reader, listener));
    branches.sort(Comparator.comparingInt(branch -> -branch.prefix().length));
    socket.subscribe(prefix);
  }

  /** Takes a reader away; whether it was the last one, so that the socket should be closed. */
  boolean remove(IoLoop.Reader reader) {
    for (Branch branch : branches) {
      if (branch.reader() == reader) {
        branches.remove(branch);
        socket.unsubscribe(branch.prefix());
      }
    }
    return branches.isEmpty();
  }

  void close() {
    socket.close();
  }

  /** Whether all of its readers have room; otherwise messages stay in ZeroMQ's buffer. */
  boolean wantsMessages() {
    for (Branch branch : branches) {
      if (!branch.reader().wantsMessages()) {
        return false;
      }
    }
    return true;
  }

  /** Hands on a bounded number of messages. */
  void read(IoLoop.Gate gate) {
    for (int i = 0; i < MESSAGES_A_TURN && wantsMessages() && gate.hasRoom(); i++) {
      // A reader may have closed the socket.
      List<byte[]> frames = branches.isEmpty() ? null : socket.receive();
      if (frames == null) {
        return;
      }
      IoLoop.Reader reader = readerOf(frames.get(0));
      if (reader != null) {
        reader.onMessage(frames);
      }
    }
  }

  /** Null only for what was on its way when its reader left. */
  private IoLoop.@Nullable Reader readerOf(byte[] topic) {
    for (Branch branch : branches) {
      if (startsWith(topic, branch.prefix())) {
        return branch.reader();
      }
    }
    return null;
  }

  private static boolean startsWith(byte[] topic, byte[] prefix) {
    for (int i = 0; i < prefix.length; i++) {
      if (i >= topic.length || topic[i] != prefix[i]) {
        return false;
      }
    }
    return true;
  }

  /** The gate was closed and is open again. */
  void onReopened() {
    branches.forEach(branch -> branch.reader().onReopened());
  }

  @Override
  public void connected() {
    branches.forEach(branch -> branch.listener().connected());
  }

  @Override
  public void disconnected() {
    branches.forEach(branch -> branch.listener().disconnected());
  }
}
