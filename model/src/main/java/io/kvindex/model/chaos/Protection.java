// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.chaos;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What keeps answers right, each of which can be switched off to show that the chaos suite notices.
 * For tests of the chaos suite only: {@code -Dkvindex.unsafe.without=repair} leaves one out for the
 * whole process. Each names where it is honoured.
 */
public enum Protection {
  /** Holes in a sequence are asked for; without it they are passed over: {@code Intake.place}. */
  REPAIR,
  /** A new life hides what the one before announced: {@code Lives.begin}. */
  FENCING,
  /** What was seen is not applied again: {@code Reception.notAgain}, {@code Fold.place}. */
  DEDUPE,
  /** A record waits for its predecessor: {@code Sequencer.judge}. */
  HOLD_BACK,
  /** What an unregistered publisher announced is retired: {@code Retirements}. */
  TOMBSTONE;

  /** System property that names the one to leave out. */
  public static final String PROPERTY = "kvindex.unsafe.without";

  private static final @Nullable Protection WITHOUT = named(System.getProperty(PROPERTY));

  /** The one this process goes without, null = it has them all, as it must. */
  public static @Nullable Protection without() {
    return WITHOUT;
  }

  /** Whether this process goes without it. */
  public boolean isOff() {
    return WITHOUT == this;
  }

  /** As the property names it. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * The one of that name.
   *
   * @param name null or empty = none
   * @throws IllegalArgumentException if there is none of that name
   */
  public static @Nullable Protection named(@Nullable String name) {
    if (name == null || name.isEmpty()) {
      return null;
    }
    return Arrays.stream(values())
        .filter(one -> one.wireName().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException(unknown(name)));
  }

  private static String unknown(String name) {
    return PROPERTY
        + "="
        + name
        + ": must be one of "
        + Arrays.stream(values()).map(Protection::wireName).collect(Collectors.joining(", "));
  }
}
