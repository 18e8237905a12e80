// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** One engine and what this proxy knows about its load. Thread-safe. */
final class Engine {

  private final String instance;
  private final URI uri;
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicLong requests = new AtomicLong();
  private final AtomicLong refusals = new AtomicLong();
  private final long coolDownNanos;
  private volatile long lastRefusal;

  /**
   * @param instance its {@code instance_id} in kvindex
   * @param uri where its API is
   * @param coolDown how long it is asked last after it refused
   */
  Engine(String instance, URI uri, Duration coolDown) {
    this.instance = instance;
    this.uri = uri;
    this.coolDownNanos = coolDown.toNanos();
    this.lastRefusal = System.nanoTime() - coolDownNanos;
  }

  String instance() {
    return instance;
  }

  URI uri() {
    return uri;
  }

  /** A request is on its way; every call needs an {@link #end}. */
  void begin() {
    inFlight.incrementAndGet();
    requests.incrementAndGet();
  }

  void end() {
    inFlight.decrementAndGet();
  }

  /** It did not take a request: not there, or too busy. */
  void refused() {
    refusals.incrementAndGet();
    lastRefusal = System.nanoTime();
  }

  /** Whether it refused a moment ago. */
  boolean coolingDown() {
    return System.nanoTime() - lastRefusal < coolDownNanos;
  }

  /** Requests being answered, by way of this proxy. */
  int inFlight() {
    return inFlight.get();
  }

  /** Requests sent there so far. */
  long requests() {
    return requests.get();
  }

  long refusals() {
    return refusals.get();
  }
}
