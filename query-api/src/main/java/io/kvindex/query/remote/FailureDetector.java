// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Which of the other replicas are dead, or as good as: their port is closed, or they have been
 * asked for a second and said nothing, while the one that asks was awake. And which are suspected:
 * they have said nothing for longer than a question takes, whoever asked it. {@link #asking} is for
 * one thread, the rest for any.
 */
final class FailureDetector {

  /** One that has not said anything for so long while it was asked is not waited for. */
  private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * One that was asked and has not said anything for so long gets questions last, and no question
   * waits for it in place of another one. Short, as two that stand still hide a third so long.
   */
  private static final long SUSPECT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Asking so long after it meant to, this process has paused itself. */
  private static final long PAUSED_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Since when each is asked without having said anything; who has is not there. */
  private final Map<String, Long> unansweredNs = new ConcurrentHashMap<>();

  private final LongSupplier nanoTime;
  private final Set<String> closed = ConcurrentHashMap.newKeySet();
  private volatile long askedNs;

  /** Nobody is blamed for what was not heard before: since then this process asked in time. */
  private volatile long awakeNs;

  /**
   * @param nanoTime as {@link System#nanoTime}
   */
  FailureDetector(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

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

  /** A query asks it. */
  void asked(String address) {
    unansweredNs.putIfAbsent(address, nanoTime.getAsLong());
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

  /** Whether nobody should wait for it who has somebody else to ask; the dead are, too. */
  boolean isSuspect(String address) {
    Long since = unansweredNs.get(address);
    return closed.contains(address)
        || since != null && nanoTime.getAsLong() - since > SUSPECT_NANOS;
  }
}
