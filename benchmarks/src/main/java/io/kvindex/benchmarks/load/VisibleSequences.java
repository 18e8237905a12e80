// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Polls {@code GET /workers} on a thread of its own and keeps each publisher's visible sequence.
 */
final class VisibleSequences implements AutoCloseable {
  private final ControlClient control;
  private final AtomicLongArray visible;
  private final Map<String, Integer> publisherOf = new HashMap<>();
  private final Thread thread;
  private volatile long pauseNanos;
  private volatile @Nullable IOException failure;
  private volatile boolean closed;

  VisibleSequences(String host, int port, int publishers, long pauseNanos) throws IOException {
    control = new ControlClient(host, port);
    visible = new AtomicLongArray(publishers);
    this.pauseNanos = pauseNanos;
    for (int i = 0; i < publishers; i++) {
      visible.set(i, -1);
      publisherOf.put(LoadShape.instanceName(i), i);
    }
    thread = new Thread(this::run, "workers-poll");
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    while (!closed) {
      try {
        for (JsonNode worker : control.get("/workers")) {
          Integer publisher = publisherOf.get(worker.path("instance_id").asText());
          // an engine's event id is its ZMQ sequence
          JsonNode listener = worker.path("listeners").path("0");
          JsonNode sequence = listener.path("visible_event_id");
          if (sequence.isMissingNode()) {
            sequence = listener.path("visible_sequence");
          }
          if (publisher != null && sequence.isNumber()) {
            visible.set(publisher, sequence.asLong());
          }
        }
      } catch (IOException e) {
        failure = e;
        return;
      }
      LockSupport.parkNanos(pauseNanos);
    }
  }

  /** Polls less or more often from now on; a load that measures queries must not disturb them. */
  void every(long nanos) {
    pauseNanos = nanos;
  }

  /**
   * Last sequence known to be visible, -1 for none.
   *
   * @throws IllegalStateException when polling has failed
   */
  long of(int publisher) {
    IOException broken = failure;
    if (broken != null) {
      throw new IllegalStateException("GET /workers failed", broken);
    }
    return visible.get(publisher);
  }

  long sum() {
    long sum = 0;
    for (int i = 0; i < visible.length(); i++) {
      sum += visible.get(i);
    }
    return sum;
  }

  @Override
  public void close() throws IOException {
    closed = true;
    LockSupport.unpark(thread);
    control.close();
  }
}
