// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.runtime.Refusal;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records of a partition whose fold broke off, which is a bug, and what becomes of them: one that
 * has failed twice, the second time in a table loaded anew, is left out from then on.
 *
 * <p>That is never wrong. What a record finds in the table is a function of the log, and so is what
 * a program makes of it: whatever fails twice fails always and in all copies of that version, which
 * so leave out the same record. What failed by chance (a bit of memory) does not fail again, and is
 * folded; what failed for want of memory is nobody's fault but this process's, and is tried again.
 * What is left out counts as a gap of its stream: its publisher is degraded, in the rows too, until
 * its life ends, and no answer relies on it. A version that can fold the record differs by that
 * publisher alone. Where the record fails even so, as it was not its own events that did it, the
 * table stays refused and is loaded again, a minute later at most: others answer.
 *
 * <p>The record itself is not kept elsewhere: the log has it, at the place that is told, and
 * quarantine is for frames that never came into the log.
 *
 * <p>For the thread that loads the partition; there is one at a time.
 */
final class FailedFolds {

  private final Set<Long> once = new HashSet<>();
  private final Set<Long> leftOut = new HashSet<>();
  private @Nullable Refusal newest;

  /**
   * Takes why the last table was refused, null = it was not. A load that is tried again is told of
   * the same one.
   */
  void note(@Nullable Refusal why) {
    if (why == null || why == newest || why.offset() == Refusal.OF_THE_PROCESS) {
      return;
    }
    newest = why;
    if (why.cause() == Refusal.Cause.LOG_LOST_END) {
      once.clear(); // other records may be there now
      leftOut.clear();
    } else if (!once.add(why.offset())) {
      leftOut.add(why.offset());
    }
  }

  /** Offsets of those to leave out behind what is folded; those before are done with. */
  Set<Long> notBefore(long folded) {
    once.removeIf(offset -> offset <= folded);
    leftOut.removeIf(offset -> offset <= folded);
    return Set.copyOf(leftOut);
  }
}
