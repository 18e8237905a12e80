// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** How far to trust the answers of a batch together: as far as the worst of them. */
final class BatchTrust {
  private static final List<String> WORSE = List.of("exact", "degraded", "stale");

  /** Characters of instance names, as for a single answer. */
  private static final int MAX_NAMES = 4_096;

  private final Set<String> degraded = new LinkedHashSet<>();
  private int worst = -1;
  private long lagMs = QueryReply.NO_LAG;

  void add(QueryReply answer) {
    @Nullable String state = answer.state();
    if (state != null) {
      worst = Math.max(worst, WORSE.indexOf(state));
    }
    lagMs = Math.max(lagMs, answer.lagMs());
    @Nullable String names = answer.degraded();
    if (names != null) {
      degraded.addAll(List.of(names.split(",")));
    }
  }

  void writeTo(QueryReply whole) {
    if (worst < 0) {
      return;
    }
    String names = String.join(",", degraded);
    boolean all = degraded.contains("*") || names.length() > MAX_NAMES;
    whole.trust(WORSE.get(worst), lagMs, degraded.isEmpty() ? null : all ? "*" : names);
  }
}
