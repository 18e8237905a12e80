// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What was said against tables once, until it is said again. For one thread. */
final class Suspicions {

  private final long againNs;
  private final Map<Integer, Suspicion> byPartition = new HashMap<>();

  /** One that was refused meanwhile has to be let go of before another one is loaded. */
  private record Suspicion(WeakReference<FoldedTable<?>> table, Refusal why, long sinceNs) {}

  /**
   * @param again how much later the same has to be said to be believed
   */
  Suspicions(Duration again) {
    againNs = again.toNanos();
  }

  /**
   * Takes the newest answer about a partition.
   *
   * @param why what it says against the table, null = nothing
   * @return whether the same was said of the same table long enough ago, and nothing else since
   */
  boolean isConfirmed(int partition, FoldedTable<?> table, @Nullable Refusal why, long nowNs) {
    Suspicion known = byPartition.get(partition);
    if (why == null) {
      byPartition.remove(partition);
      return false;
    }
    if (known == null || known.table().get() != table || !known.why().equals(why)) {
      byPartition.put(partition, new Suspicion(new WeakReference<>(table), why, nowNs));
      return false;
    }
    return nowNs - known.sinceNs() >= againNs;
  }
}
