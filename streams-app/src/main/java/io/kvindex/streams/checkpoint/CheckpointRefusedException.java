// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A checkpoint that can not be used, and why. What was loaded of it is no table. */
public final class CheckpointRefusedException extends Exception {

  /** Why. */
  public enum Reason {
    /** Files are missing, cut short or changed: their checksums say so, or they can't be read. */
    DAMAGED,

    /** Some rows are not there. */
    INCOMPLETE,

    /** It was written by a version whose rows this one does not know. */
    UNKNOWN_LAYOUT,

    /** It is of a topic that was deleted since, or of another Kafka. */
    FOREIGN_TOPIC,

    /** It is of another partition. */
    FOREIGN_PARTITION,

    /** A row does not say what rows of its kind say. */
    MALFORMED_ROW,

    /** It has records that the log has lost. */
    BEYOND_LOG,

    /** The log has lost records that follow it. */
    TOO_OLD,

    /** The log has records that it lacks. */
    PARTIAL;

    /** As in metrics. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Reason reason;

  CheckpointRefusedException(Reason reason, String message) {
    this(reason, message, null);
  }

  CheckpointRefusedException(Reason reason, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /** Why. */
  public Reason reason() {
    return reason;
  }
}
