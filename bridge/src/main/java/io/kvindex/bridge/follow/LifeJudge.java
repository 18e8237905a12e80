// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.produce.SendSession;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Tells a restarted engine from late and duplicated batches of the one followed. An engine's
 * batches are numbered from 0 in each life and stamped with its clock, so what is known of a
 * sequence (a fingerprint of its payload, its time) says whether a batch of that number is the same
 * one, and a number that comes again with a later time can only be another life's. A clock that was
 * seen to go back says nothing more in that life. For its loop's thread only.
 */
final class LifeJudge {

  /** What a batch is whose sequence is not beyond the last one. */
  enum Verdict {
    /** Seen before: this life's. */
    SAME,
    /** Overtaken by later ones, of this life or a former one: of no use. */
    LATE,
    /**
     * Another one than was taken under that number, and not later: of a former life, or of one
     * whose clock is behind.
     */
    OTHER,
    /** Another life's, younger than this one. */
    NEW_LIFE,
    /** Nothing that is known of it decides. */
    UNKNOWN
  }

  /** Batches remembered; a power of two. */
  private static final int REMEMBERED = 1_024;

  /** No engine is up again within a second: what it imports alone takes longer. */
  private static final long RESTART_MICROS = 1_000_000;

  /** Marks the end of a replay, so no batch has it. */
  private static final long NO_SEQUENCE = -1;

  private final long[] sequences = new long[REMEMBERED];
  private final long[] fingerprints = new long[REMEMBERED];
  private final long[] times = new long[REMEMBERED];
  private long newest;
  private long former;

  /** Whether the clock was seen to go on in this life; else the same time says nothing. */
  private boolean moved;

  /** Whether it was set back in this life, or its times are no times at all. */
  private boolean setBack;

  /**
   * @param acked the last batch of this life that is known of, null = none
   */
  LifeJudge(SendSession.@Nullable Acked acked) {
    Arrays.fill(sequences, NO_SEQUENCE);
    if (acked != null) {
      remember(acked.sequence(), acked.fingerprint(), acked.sourceMicros());
    }
  }

  /** A batch was taken as this life's. */
  void taken(RawBatch batch, long micros) {
    remember(batch.sequence(), batch.fingerprint(), micros);
  }

  private void remember(long sequence, long fingerprint, long micros) {
    int i = (int) sequence & REMEMBERED - 1;
    sequences[i] = sequence;
    fingerprints[i] = fingerprint;
    times[i] = micros;
    if (micros != 0) {
      moved |= newest != 0 && micros > newest;
      setBack |= micros < newest;
      newest = micros;
      former = 0;
    }
  }

  /** Another life begins; of the one before only its end is remembered. */
  void begin() {
    Arrays.fill(sequences, NO_SEQUENCE);
    former = setBack ? 0 : Math.max(former, newest);
    newest = 0;
    moved = false;
    setBack = false;
  }

  /**
   * The verdict on a live batch that came behind the last one.
   *
   * @param micros the engine's time of it, 0 = unknown
   */
  Verdict ofLive(RawBatch batch, long micros) {
    if (isRemembered(batch)) {
      return Verdict.SAME;
    }
    boolean timed = micros != 0 && newest != 0 && !setBack;
    if (timed && micros > newest) {
      return Verdict.NEW_LIFE;
    }
    int i = (int) batch.sequence() & REMEMBERED - 1;
    if (sequences[i] == batch.sequence() && fingerprints[i] != 0) {
      return Verdict.OTHER;
    }
    return timed ? Verdict.LATE : Verdict.UNKNOWN;
  }

  /**
   * The verdict on a batch that the engine itself has at this moment under a number that is not
   * beyond the last one.
   *
   * @param micros the engine's time of it, 0 = unknown, for example because it cannot be decoded
   */
  Verdict ofReplayed(RawBatch batch, long micros) {
    int i = (int) batch.sequence() & REMEMBERED - 1;
    if (isRemembered(batch)) {
      return Verdict.SAME;
    }
    if (sequences[i] == batch.sequence() && (times[i] != 0) == (micros != 0)) {
      return ofAnotherPayload(times[i], micros, fingerprints[i] != 0);
    }
    return micros != 0 && newest != 0 && !setBack && micros > newest
        ? Verdict.NEW_LIFE
        : Verdict.UNKNOWN;
  }

  /**
   * The verdict on what the engine has under a number that is remembered, where it is not the same
   * payload as far as known.
   *
   * @param otherPayload whether it is known to be another one, which may have been damaged live
   */
  private Verdict ofAnotherPayload(long taken, long replayed, boolean otherPayload) {
    if (taken == 0 && !otherPayload) {
      return Verdict.UNKNOWN;
    }
    boolean sameTime = taken != 0 && taken == replayed && (moved || !otherPayload);
    return sameTime ? Verdict.SAME : Verdict.NEW_LIFE;
  }

  /** Whether a batch beyond the last one is older than it, so that it may be a former life's. */
  boolean isOlder(long micros) {
    return micros != 0 && !setBack && (micros < newest || micros <= former);
  }

  /** Whether so much time passed before a batch that the engine may have been started again. */
  boolean hasPauseBefore(long micros) {
    return micros == 0 || newest == 0 || setBack || micros - newest >= RESTART_MICROS;
  }

  private boolean isRemembered(RawBatch batch) {
    int i = (int) batch.sequence() & REMEMBERED - 1;
    return sequences[i] == batch.sequence()
        && fingerprints[i] != 0
        && fingerprints[i] == batch.fingerprint();
  }
}
