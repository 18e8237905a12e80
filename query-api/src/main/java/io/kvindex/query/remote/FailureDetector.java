// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Which of the other replicas are dead, or as good as: their port is closed, or they have been
 * asked for a second and said nothing, while the one that asks was awake. {@link #asking} is for
 * one thread, the rest for any.
 */
final class FailureDetector {

  /** One that has not said anything for so long while it was asked is not waited for. */
  private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Asking so long after it meant to, this process has paused itself. */
  private static final long PAUSED_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Since when each is asked without having said anything; who has is not there. */
  private final Map<String, Long> unansweredNs = new ConcurrentHashMap<>();

  private final Set<String> closed = ConcurrentHashMap.newKeySet();
  private volatile long askedNs;

  /** Nobody is blamed for what was not heard before: since then this process asked in time. */
  private volatile long awakeNs;

  /**
   * All of them are about to be asked; any others are forgotten.
   *
   * @param nowNs as {@link System#nanoTime}
   * @param dueNs when that was meant to be
   */
  void asking(Collection<String> addresses, long nowNs, long dueNs) {
    if (nowNs - dueNs > PAUSED_NANOS) {
      awakeNs = nowNs;
    }
    askedNs = nowNs;
    unansweredNs.keySet().retainAll(addresses);
    closed.retainAll(addresses);
    addresses.forEach(address -> unansweredNs.putIfAbsent(address, nowNs));
  }

  /** It said something, if only that it does not answer. */
  void answered(String address) {
    unansweredNs.remove(address);
    closed.remove(address);
  }

  /** Nobody listens there. */
  void closed(String address) {
    closed.add(address);
  }

  /** Whether nothing is to be expected of it. One that was never asked may well live. */
  boolean isDead(String address) {
    Long since = unansweredNs.get(address);
    return closed.contains(address)
        || since != null && askedNs - since > SILENT_NANOS && askedNs - awakeNs > SILENT_NANOS;
  }
}
