// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;

/** Moments as people write them. */
public final class TimeText {

  private TimeText() {}

  /**
   * Reads {@code 2026-11-21T10:15:30Z}, the same with an offset, or without one in the time zone of
   * this machine.
   *
   * @throws IllegalArgumentException if it is none of these
   */
  public static Instant parse(String text) {
    try {
      return OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException e) {
      return local(text);
    }
  }

  private static Instant local(String text) {
    try {
      return LocalDateTime.parse(text).atZone(ZoneId.systemDefault()).toInstant();
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "not a time: " + text + "; write it as 2026-11-21T10:15:30Z", e);
    }
  }
}
