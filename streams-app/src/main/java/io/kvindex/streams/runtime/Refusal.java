// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import java.util.Locale;

/**
 * Why a table can not be used any more.
 *
 * @param offset for {@link Cause#LOG_LOST_END} the first offset the log is known to differ at: only
 *     a table folded up to before it can be of this log (0 = none can); for {@link
 *     Cause#FOLD_FAILED} that of the record, {@link #OF_THE_PROCESS} where it can not be blamed
 * @param detail for people
 */
public record Refusal(Cause cause, long offset, String detail) {

  /** It was an {@link Error}: what another process, with more memory, would not have met. */
  public static final long OF_THE_PROCESS = -1;

  /** What of. */
  public enum Cause {
    /** Records the table was folded from are not in the log any more, or others are there. */
    LOG_LOST_END,

    /** The fold of a record broke off and left the table half changed. */
    FOLD_FAILED;

    /** As in metrics. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
