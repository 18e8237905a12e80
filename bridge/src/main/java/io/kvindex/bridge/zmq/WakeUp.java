// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Ends a poll from any thread. A pipe, not an inproc socket, because ZeroMQ sockets may be used by
 * one thread only. Holds one byte at most.
 */
final class WakeUp implements AutoCloseable {

  private final Pipe pipe;
  private final AtomicBoolean raised = new AtomicBoolean();
  private final ByteBuffer drained = ByteBuffer.allocate(8);

  WakeUp() {
    try {
      pipe = Pipe.open();
      pipe.source().configureBlocking(false);
    } catch (IOException e) {
      throw new UncheckedIOException("no pipe for the socket loop", e);
    }
  }

  SelectableChannel channel() {
    return pipe.source();
  }

  void raise() {
    if (raised.compareAndSet(false, true)) {
      try {
        pipe.sink().write(ByteBuffer.wrap(new byte[] {1}));
      } catch (IOException e) {
        // Closed: the loop has ended and nobody needs to be woken.
        raised.set(true);
      }
    }
  }

  /** Called by the loop before it looks for work, so that what comes later wakes it again. */
  void clear() {
    try {
      while (pipe.source().read(drained.clear()) > 0) {}
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    // Last: a raise before this line is answered by the turn that begins now.
    raised.set(false);
  }

  @Override
  public void close() {
    try {
      pipe.sink().close();
      pipe.source().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
