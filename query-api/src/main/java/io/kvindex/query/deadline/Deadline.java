// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.deadline;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The moment from which an answer is worth nothing. Immutable. */
public final class Deadline {
  /** Header that states it, in milliseconds from the request's first byte. */
  public static final String HEADER = "X-KvIndex-Deadline-Ms";

  /** There is time for ever. */
  public static final Deadline NONE = new Deadline(0, -1);

  private static final long MAX_MILLIS = 3_600_000;
  private static final int MAX_DIGITS = 7;

  private final long startNanos;
  private final long millis;

  private Deadline(long startNanos, long millis) {
    this.startNanos = startNanos;
    this.millis = millis;
  }

  /**
   * @param header the header's value, null = {@link #NONE}; 0 is past at once
   * @param startNanos when the request began, as {@link System#nanoTime}
   * @throws ApiException (400) where it is no whole number of 0 to 3,600,000
   */
  public static Deadline of(@Nullable String header, long startNanos) {
    if (header == null) {
      return NONE;
    }
    boolean digits = !header.isEmpty() && header.length() <= MAX_DIGITS;
    for (int i = 0; digits && i < header.length(); i++) {
      digits = header.charAt(i) >= '0' && header.charAt(i) <= '9';
    }
    if (!digits || Integer.parseInt(header) > MAX_MILLIS) {
      throw ErrorCode.INVALID_VALUE.because(
          HEADER + " must be 0 to " + MAX_MILLIS + ", got \"" + ErrorCode.echo(header) + "\"");
    }
    return new Deadline(startNanos, Integer.parseInt(header));
  }

  /** Nanoseconds left, below 0 when it is past. */
  public long leftNanos() {
    return millis < 0
        ? Long.MAX_VALUE
        : startNanos + TimeUnit.MILLISECONDS.toNanos(millis) - System.nanoTime();
  }

  /** Whether there is one. */
  public boolean isSet() {
    return millis >= 0;
  }

  /**
   * Ends what is not worth going on with.
   *
   * @throws ApiException (503) if it is past
   */
  public void check() {
    if (millis >= 0 && leftNanos() <= 0) {
      throw ErrorCode.DEADLINE_EXCEEDED.because(
          "not answered within the " + millis + " ms the client gave");
    }
  }
}
