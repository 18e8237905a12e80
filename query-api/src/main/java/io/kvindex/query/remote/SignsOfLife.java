// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Which of the other replicas are silent: those that have been asked again and again and said
 * nothing, while the one that asks was awake. {@link #asking} is for one thread, the rest for any.
 */
final class SignsOfLife {

  /** One that has not said anything for so long while it was asked is not waited for. */
  private static final long SILENT_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Asked so long after the last time, this process has paused itself. */
  private static final long PAUSED_NANOS = TimeUnit.MILLISECONDS.toNanos(750);

  /** When each was first asked, or last said anything. */
  private final Map<String, Long> lastNs = new ConcurrentHashMap<>();

  private volatile long askedNs;

  /** Nobody is blamed for what was not heard before: since then this process asked in time. */
  private volatile long awakeNs;

  /**
   * @param nowNs as {@link System#nanoTime}, as all times here
   */
  SignsOfLife(long nowNs) {
    askedNs = nowNs;
    awakeNs = nowNs;
  }

  /** All of them are about to be asked; any others are forgotten. */
  void asking(Collection<String> addresses, long nowNs) {
    if (nowNs - askedNs > PAUSED_NANOS) {
      awakeNs = nowNs;
    }
    askedNs = nowNs;
    lastNs.keySet().retainAll(addresses);
    addresses.forEach(address -> lastNs.putIfAbsent(address, nowNs));
  }

  /** It said something, if only that it does not answer. */
  void of(String address, long nowNs) {
    lastNs.put(address, nowNs);
  }

  /** Whether it has lately said nothing though it was asked. */
  boolean isSilent(String address) {
    Long last = lastNs.get(address);
    return last != null && askedNs - Math.max(last, awakeNs) > SILENT_NANOS;
  }
}
