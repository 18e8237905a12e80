// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.kafka;

import org.jspecify.annotations.Nullable;

/** What a misspelt name probably was meant to be. */
final class Nearest {
  private Nearest() {}

  /** Of some names the most similar one, null = none is similar enough. */
  static @Nullable String of(String name, Iterable<String> names) {
    String best = null;
    int least = 2 + name.length() / 4;
    for (String one : names) {
      int distance = distance(name, one);
      if (distance < least) {
        least = distance;
        best = one;
      }
    }
    return best;
  }

  /** Levenshtein's: letters to add, leave out or replace. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int above = row[j];
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(Math.min(row[j - 1], above) + 1, replaced);
        diagonal = above;
      }
    }
    return row[b.length()];
  }
}
