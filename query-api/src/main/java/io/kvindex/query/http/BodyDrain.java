// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rest of a body nobody wants and throws it away, chunk by chunk, without a thread that
 * waits. Closing the connection of a refused one at once would reset it, and many clients would
 * then never see the 413 that was sent. Bounded in bytes and time.
 */
final class BodyDrain implements Runnable {
  static final long MAX_BYTES = 512L << 20;
  static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Request request;
  private final Consumer<Boolean> done;
  private final long start = System.nanoTime();
  private long bytes;

  /**
   * @param done told once, by whichever thread read last, whether the body is read to its end; else
   *     it is too long or too slow, or the client went away
   */
  BodyDrain(Request request, Consumer<Boolean> done) {
    this.request = request;
    this.done = done;
  }

  @Override
  public void run() {
    boolean empty = false;
    while (!empty && bytes < MAX_BYTES && System.nanoTime() - start < MAX_NANOS) {
      Content.@Nullable Chunk chunk = request.read();
      if (chunk == null) {
        request.demand(this);
        return;
      }
      if (Content.Chunk.isFailure(chunk)) {
        break;
      }
      bytes += chunk.remaining();
      empty = chunk.isLast();
      chunk.release();
    }
    done.accept(empty);
  }
}
