// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where a replay begins: with the oldest records there are, at an offset of each partition, or with
 * the first record of a time.
 *
 * @param offset null = not by offset
 * @param time null = not by time
 */
public record ReplayFrom(@Nullable Long offset, @Nullable Instant time) {

  private static final String BEGINNING = "beginning";

  /**
   * Reads {@code beginning}, a number or a time.
   *
   * @throws IllegalArgumentException if it is none of these
   */
  public static ReplayFrom parse(String text) {
    if (text.equals(BEGINNING)) {
      return new ReplayFrom(null, null);
    }
    if (text.matches("\\d{1,18}")) {
      return new ReplayFrom(Long.valueOf(text), null);
    }
    try {
      return new ReplayFrom(null, time(text));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "--from takes `beginning`, an offset or a time as 2026-11-21T10:15:30Z, got " + text, e);
    }
  }

  /** As {@link #parse} takes it. */
  public String text() {
    if (offset != null) {
      return Long.toString(offset);
    }
    return time == null ? BEGINNING : time.toString();
  }

  /** Part of a name; the same for the same place. */
  public String label() {
    if (offset != null) {
      return "offset-" + offset;
    }
    return time == null
        ? BEGINNING
        : time.toString().toLowerCase(Locale.ROOT).replaceAll("[^0-9a-z]+", "-");
  }

  /**
   * Reads a moment: {@code 2026-11-21T10:15:30Z}, the same with an offset, or without one in the
   * time zone of this machine.
   *
   * @throws IllegalArgumentException if it is none of these
   */
  public static Instant time(String text) {
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
