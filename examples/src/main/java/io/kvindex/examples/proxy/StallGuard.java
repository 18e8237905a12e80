// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Ends reads that nothing comes from: the JDK's HTTP client has a timeout for an answer's beginning
 * but none for the pieces that follow. Looks once a second, so that a read costs two map operations
 * and no timer. Thread-safe.
 */
final class StallGuard implements AutoCloseable {

  private final Map<InputStream, Long> reading = new ConcurrentHashMap<>();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "proxy-stall-guard");
            thread.setDaemon(true);
            return thread;
          });
  private final long limitNanos;

  StallGuard(Duration limit) {
    this.limitNanos = limit.toNanos();
    var unused = timer.scheduleWithFixedDelay(this::closeStalled, 1, 1, TimeUnit.SECONDS);
  }

  /**
   * {@link InputStream#read(byte[])}, which fails when nothing came for longer than the limit.
   *
   * @throws IOException if it did, or the stream broke
   */
  int read(InputStream in, byte[] piece) throws IOException {
    reading.put(in, System.nanoTime());
    int n;
    try {
      n = in.read(piece);
    } catch (IOException e) {
      reading.remove(in);
      throw e;
    }
    // Closed by another thread it reads as if it had ended properly.
    if (reading.remove(in) == null) {
      throw new IOException("nothing came for " + limitNanos / 1_000_000 + " ms");
    }
    return n;
  }

  private void closeStalled() {
    long now = System.nanoTime();
    reading.forEach(
        (in, since) -> {
          if (now - since > limitNanos && reading.remove(in, since)) {
            closeQuietly(in);
          }
        });
  }

  private static void closeQuietly(InputStream in) {
    try {
      in.close();
    } catch (IOException e) {
      // It is being given up; its reader hears of it.
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
