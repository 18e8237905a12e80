// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import io.kvindex.launcher.demo.Latencies;
import java.util.concurrent.atomic.AtomicLong;

/** What a router met between two moments. Thread-safe. */
final class Tally {

  final AtomicLong queries = new AtomicLong();

  /** Queries whose retry failed as well. */
  final AtomicLong failed = new AtomicLong();

  /** Rows that were never true. */
  final AtomicLong wrong = new AtomicLong();

  /** Rows that were true longer ago than allowed. */
  final AtomicLong late = new AtomicLong();

  /** Requests that replicas refused, or broke, to which nothing was done. */
  final AtomicLong refused = new AtomicLong();

  /** Requests such replicas answered later than a client waits before it asks another one. */
  final AtomicLong slow = new AtomicLong();

  final AtomicLong retried = new AtomicLong();
  final AtomicLong saidStale = new AtomicLong();
  final AtomicLong saidDegraded = new AtomicLong();

  /** Rows compared, and those of them where something was held. */
  final AtomicLong rows = new AtomicLong();

  final AtomicLong hits = new AtomicLong();

  /** From the question to the answer that came first. */
  final Latencies latencies = new Latencies();

  /** Of each request that a replica answered to which nothing was done. */
  final Latencies survivors = new Latencies();
}
