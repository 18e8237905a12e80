// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.util.Locale;

/** Where loads say what they measured. */
final class Console {

  private Console() {}

  /** A line, as {@link String#format} makes it; with a point in numbers, wherever it runs. */
  static void say(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }
}
