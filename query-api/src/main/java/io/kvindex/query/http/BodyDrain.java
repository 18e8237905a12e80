// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rest of a refused body and throws it away, chunk by chunk, without a thread that waits.
 * Closing the connection at once would reset it, and many clients would then never see the 413 that
 * was sent. Bounded in bytes and time.
 */
final class BodyDrain implements Runnable {
  static final long MAX_BYTES = 512L << 20;
  static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Request request;
  private final Runnable done;
  private final long start = System.nanoTime();
  private long bytes;

  BodyDrain(Request request, Runnable done) {
    this.request = request;
    this.done = done;
  }

  @Override
  public void run() {
    while (bytes < MAX_BYTES && System.nanoTime() - start < MAX_NANOS) {
      Content.@Nullable Chunk chunk = request.read();
      if (chunk == null) {
        request.demand(this);
        return;
      }
      if (Content.Chunk.isFailure(chunk)) {
        break;
      }
      bytes += chunk.remaining();
      boolean last = chunk.isLast();
      chunk.release();
      if (last) {
        break;
      }
    }
    done.run();
  }
}
