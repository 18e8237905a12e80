// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.Locale;

/**
 * How far a partition is from answering here.
 *
 * @param phase what is being done
 * @param done rows, or records of the log, behind it; 0 where there is nothing to count
 * @param total the same with what is before it; may grow
 * @param perSecond how fast, since the phase began; 0 = not known
 */
public record PartitionProgress(Phase phase, long done, long total, long perSecond) {

  /** What a partition goes through, in this order. */
  public enum Phase {
    /** Nothing of it is here. */
    ABSENT("not here"),
    /** A checkpoint is copied from another process: {@code done} of {@code total} bytes. */
    BORROWING("borrowing a checkpoint, bytes"),
    /** A checkpoint is read into memory: {@code done} of about {@code total} blocks. */
    LOADING("loading its checkpoint"),
    /** Records of the log are being applied, or wait until Kafka can be asked for them again. */
    CATCHING_UP("catching up with the log"),
    /** Answers are complete and close behind the log. */
    READY("ready"),
    /** Answers are those of a former time: nobody has the table follow the log here. */
    STALE("stale");

    private final String words;

    Phase(String words) {
      this.words = words;
    }

    /** Name in JSON. */
    public String wireName() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  static PartitionProgress of(Phase phase) {
    return new PartitionProgress(phase, 0, 0, 0);
  }

  /** 0 to 100. */
  public double percent() {
    if (total <= 0) {
      return phase == Phase.READY ? 100 : 0;
    }
    return Math.min(100, 100.0 * done / total);
  }

  /** In words. */
  public String text() {
    if (total <= 0) {
      return phase.words;
    }
    String counts =
        String.format(Locale.ROOT, "%s: %d of %d (%.0f %%", phase.words, done, total, percent());
    return counts + (perSecond > 0 ? ", " + perSecond + "/s)" : ")");
  }
}
