// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Publishes whatever a test wants to say, numbered, on a port of its own. For one thread. */
final class WirePublisher implements AutoCloseable {

  private static final int WAIT_MS = 30_000;

  private final ZContext context = new ZContext();

  /** As a PUB socket, but it tells when somebody subscribes. */
  private final ZMQ.Socket socket = context.createSocket(SocketType.XPUB);

  private final String endpoint;
  private long next;

  WirePublisher(long firstSequence) {
    next = firstSequence;
    socket.setReceiveTimeOut(WAIT_MS);
    endpoint = "tcp://127.0.0.1:" + socket.bindToRandomPort("tcp://127.0.0.1");
  }

  String endpoint() {
    return endpoint;
  }

  void awaitSubscriber() {
    if (socket.recv() == null) {
      throw new AssertionError("nobody subscribes to " + endpoint);
    }
  }

  /** Packs lists, maps, texts, numbers and null. */
  void send(Object batch) throws IOException {
    send(next++, payload(batch));
  }

  /** Sends a batch as it is. */
  void send(long sequence, byte[] payload) {
    socket.sendMore(new byte[0]);
    socket.sendMore(ByteBuffer.allocate(Long.BYTES).putLong(sequence).array());
    socket.send(payload);
  }

  /** What {@link #send} sends. */
  static byte[] payload(Object batch) throws IOException {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      pack(batch, packer);
      return packer.toByteArray();
    }
  }

  /** A batch that nobody gets. */
  void lose() {
    next++;
  }

  private static void pack(@Nullable Object value, MessageBufferPacker packer) throws IOException {
    if (value == null) {
      packer.packNil();
    } else if (value instanceof String text) {
      packer.packString(text);
    } else if (value instanceof Double number) {
      packer.packDouble(number);
    } else if (value instanceof Number number) {
      packer.packLong(number.longValue());
    } else if (value instanceof Collection<?> list) {
      packer.packArrayHeader(list.size());
      for (Object element : list) {
        pack(element, packer);
      }
    } else if (value instanceof Map<?, ?> map) {
      packer.packMapHeader(map.size());
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        pack(entry.getKey(), packer);
        pack(entry.getValue(), packer);
      }
    } else {
      throw new IllegalArgumentException("no way to pack " + value.getClass());
    }
  }

  @Override
  public void close() {
    context.close();
  }
}
