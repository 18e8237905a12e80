// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import io.kvindex.launcher.rewind.Replica.Row;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the rows one owner does not have on both sides: reads both in order, a page at a time. */
final class RowDifferences {

  private static final Comparator<Row> ORDER =
      Comparator.comparing(Row::engineHash, Long::compareUnsigned).thenComparingInt(Row::group);

  /** An owner's rows on one side. */
  private static final class Rows {
    private final @Nullable Replica side;
    private final String owner;
    private final Deque<Row> page = new ArrayDeque<>();
    private @Nullable Long last;
    private boolean ended;

    /**
     * @param side null = it has no such owner
     */
    Rows(@Nullable Replica side, String owner) {
      this.side = side;
      this.owner = owner;
      ended = side == null;
    }

    @Nullable Row peek() throws IOException, InterruptedException {
      if (page.isEmpty() && !ended && side != null) {
        page.addAll(side.rows(owner, last));
        ended = page.isEmpty();
        last = ended ? last : Long.valueOf(page.getLast().engineHash());
      }
      return page.peek();
    }

    void pop() {
      page.remove();
    }
  }

  private final List<String> found = new ArrayList<>();
  private final int most;

  /**
   * @param most differences to find
   */
  RowDifferences(int most) {
    this.most = most;
  }

  /**
   * Looks for differences of one owner.
   *
   * @param a null = it has no such owner
   * @param b as {@code a}
   * @return one line each, at most as many as wanted
   */
  List<String> of(String owner, @Nullable Replica a, @Nullable Replica b)
      throws IOException, InterruptedException {
    Rows left = new Rows(a, owner);
    Rows right = new Rows(b, owner);
    while (found.size() < most && (left.peek() != null || right.peek() != null)) {
      Row inA = left.peek();
      Row inB = right.peek();
      int order = inA == null ? 1 : inB == null ? -1 : ORDER.compare(inA, inB);
      if (order < 0) {
        found.add("only in A: " + text(inA));
      } else if (order > 0) {
        found.add("only in B: " + text(inB));
      } else if (inA != null && !inA.equals(inB)) {
        found.add("in A: " + text(inA) + ", in B: " + text(inB));
      }
      if (order <= 0) {
        left.pop();
      }
      if (order >= 0) {
        right.pop();
      }
    }
    return found;
  }

  private static String text(@Nullable Row row) {
    if (row == null) {
      return "-";
    }
    return "block "
        + Long.toUnsignedString(row.engineHash())
        + (row.group() == 0 ? "" : " group " + row.group())
        + (row.copies() == 1 ? "" : " x" + row.copies())
        + (row.key() == null ? " (its prefix is not known)" : " key " + row.key());
  }
}
