// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.rewind.Replica.Part;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Two sides at one look, partition by partition.
 *
 * @param both what those both have look like
 * @param onlyA partitions B does not have
 * @param onlyB partitions A does not have
 */
public record Comparison(
    SortedMap<Integer, Pair> both, SortedSet<Integer> onlyA, SortedSet<Integer> onlyB) {

  /** A partition on both sides. */
  public record Pair(Part a, Part b) {

    /** Whether both sides are where they can be compared. */
    public boolean isComparable() {
      return problem() == null;
    }

    /**
     * Whether they were folded from different records on, so that one may hold, and rightly, what
     * the other never heard of. Ends no sooner than one of them is folded anew.
     */
    public boolean areOfTwoLineages() {
      return a.error() == null
          && b.error() == null
          && begun(a)
          && begun(b)
          && a.since() != b.since();
    }

    private static boolean begun(Part part) {
      return part.offset() >= 0;
    }

    private static String lineage(Part part) {
      return (part.copy().isEmpty() ? "" : " (copy " + part.copy() + ")")
          + " was folded from offset "
          + part.since()
          + " on";
    }

    /** What stands in the way of comparing them, null = nothing. */
    public @Nullable String problem() {
      if (a.error() != null || b.error() != null) {
        return "can not be read in " + (a.error() != null ? "A: " + a.error() : "B: " + b.error());
      }
      if (areOfTwoLineages()) {
        return "A"
            + lineage(a)
            + ", B"
            + lineage(b)
            + ": what was announced in the records between is known to one of them only";
      }
      if (a.offset() != b.offset()) {
        return "A has applied up to offset "
            + a.offset()
            + ", B up to "
            + b.offset()
            + ": "
            + Math.abs(a.offset() - b.offset())
            + " records apart";
      }
      return null;
    }

    /** Whether they hold the same; only where they can be compared. */
    public boolean isSame() {
      return sameStreams() && differing().isEmpty();
    }

    /** Whether all streams are at the same place with the same gaps. */
    public boolean sameStreams() {
      return a.streams() == b.streams()
          && a.held() == b.held()
          && a.positions().equals(b.positions());
    }

    /** Owners that are not the same on both sides, by id. */
    public SortedSet<String> differing() {
      SortedSet<String> ids = new TreeSet<>(a.owners().keySet());
      ids.addAll(b.owners().keySet());
      ids.removeIf(id -> Objects.equals(a.owners().get(id), b.owners().get(id)));
      return ids;
    }

    /** An owner as either side describes it. */
    public JsonNode owner(String id) {
      JsonNode known = a.owners().get(id);
      return known == null ? Objects.requireNonNull(b.owners().get(id)) : known;
    }
  }

  /**
   * Puts two looks together.
   *
   * @param filtered whether partitions without owners say nothing
   */
  public static Comparison of(Map<Integer, Part> a, Map<Integer, Part> b, boolean filtered) {
    SortedMap<Integer, Pair> both = new TreeMap<>();
    a.forEach(
        (partition, part) -> {
          Part other = b.get(partition);
          if (other != null && !(filtered && saysNothing(part) && saysNothing(other))) {
            both.put(partition, new Pair(part, other));
          }
        });
    return new Comparison(both, without(a.keySet(), b.keySet()), without(b.keySet(), a.keySet()));
  }

  /** What can not be read may hold anything. */
  private static boolean saysNothing(Part part) {
    return part.error() == null && part.owners().isEmpty();
  }

  private static SortedSet<Integer> without(Set<Integer> all, Set<Integer> those) {
    SortedSet<Integer> left = new TreeSet<>(all);
    left.removeAll(those);
    return left;
  }

  /** Whether that of a partition stands in the way: no wait ends it. */
  public boolean isOfTwoLineages() {
    return both.values().stream().anyMatch(Pair::areOfTwoLineages);
  }

  public boolean isComparable() {
    return !both.isEmpty() && both.values().stream().allMatch(Pair::isComparable);
  }

  /** Whether all that both have can be compared and is the same. */
  public boolean isSame() {
    return isComparable() && both.values().stream().allMatch(Pair::isSame);
  }
}
