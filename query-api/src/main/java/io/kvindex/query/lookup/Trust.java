// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lookup;

import java.util.Locale;

/** How far an answer can be trusted, best first. */
public enum Trust {
  /** Everything known of is in it. */
  EXACT,
  /** Some publishers have lost events that nobody can give us; they are named. */
  DEGRADED,
  /** The index is not being kept up at the moment. */
  STALE;

  private final String headerValue = name().toLowerCase(Locale.ROOT);

  /** Value of the {@code X-KvIndex-State} header. */
  public String headerValue() {
    return headerValue;
  }

  /** The worse of two. */
  public Trust and(Trust other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
