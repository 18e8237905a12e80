// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import java.net.URI;
import java.util.concurrent.TimeUnit;

/** A replica of kvindex, and how long it wants to be left alone. Thread-safe. */
final class Replica {

  private static final int MAX_PAUSE_SECONDS = 10;

  private final URI uri;
  private volatile long pausedUntil = System.nanoTime();

  Replica(URI uri) {
    this.uri = uri;
  }

  URI uri() {
    return uri;
  }

  /**
   * Too busy, or still starting: asking all the same would harm both.
   *
   * @param retryAfter the header: seconds; anything else, a date for instance, counts as 1
   */
  void pause(String retryAfter) {
    int seconds = retryAfter.matches("\\d{1,4}") ? Integer.parseInt(retryAfter) : 1;
    pausedUntil =
        System.nanoTime() + TimeUnit.SECONDS.toNanos(Math.min(MAX_PAUSE_SECONDS, seconds));
  }

  boolean paused() {
    return System.nanoTime() - pausedUntil < 0;
  }
}
