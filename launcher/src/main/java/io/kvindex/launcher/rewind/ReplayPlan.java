// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which records a replay reads, and what it can not know.
 *
 * @param parts the topic as it was when the plan was made, by partition
 * @param starts first offset to read, by partition
 */
public record ReplayPlan(List<LogPart> parts, SortedMap<Integer, Long> starts) {

  /** Works out where to begin. */
  public static ReplayPlan of(EventLog log, ReplayFrom from) throws InterruptedException {
    List<LogPart> parts = log.parts();
    @Nullable Instant time = from.time();
    Map<Integer, Long> since = time == null ? Map.of() : log.from(time, parts.size());
    SortedMap<Integer, Long> starts = new TreeMap<>();
    for (LogPart part : parts) {
      long wanted = part.first();
      if (from.offset() != null) {
        wanted = from.offset();
      } else if (time != null) {
        wanted = since.getOrDefault(part.partition(), part.end());
      }
      starts.put(part.partition(), Math.max(part.first(), Math.min(part.end(), wanted)));
    }
    return new ReplayPlan(parts, starts);
  }

  /** Records to read until the end the topic had when the plan was made. */
  public long records() {
    return parts.stream().mapToLong(part -> part.end() - start(part)).sum();
  }

  /** First offset to read of a partition. */
  public long start(LogPart part) {
    return starts.getOrDefault(part.partition(), part.first());
  }

  /** Whether the copy knows all that was ever announced. */
  public boolean isWhole() {
    return starts.values().stream().allMatch(start -> start == 0);
  }

  /** What is not in the copy, in lines for people; empty = nothing is missing. */
  public List<String> missing() {
    List<String> lines = new ArrayList<>();
    for (LogPart part : parts) {
      long start = start(part);
      if (part.first() > 0) {
        lines.add(
            "partition "
                + part.partition()
                + ": retention no longer holds records 0 to "
                + (part.first() - 1)
                + (part.oldest() == null
                    ? "; nothing is left"
                    : "; the oldest left is of " + part.oldest()));
      }
      if (start > part.first()) {
        lines.add(
            "partition "
                + part.partition()
                + ": records "
                + part.first()
                + " to "
                + (start - 1)
                + " are left out, as asked for");
      }
    }
    if (!lines.isEmpty()) {
      lines.add(
          "what was announced in these is not in the copy: a stream that goes on from there is degraded, one"
              + " that said nothing since is missing");
    }
    return lines;
  }
}
