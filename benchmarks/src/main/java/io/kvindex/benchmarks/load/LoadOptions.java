// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** {@code --name value} pairs of a load's command line; a name nobody asked for is an error. */
public final class LoadOptions {
  private final Map<String, String> given = new HashMap<>();
  private final Set<String> known = new TreeSet<>();

  /**
   * @throws IllegalArgumentException if they are not pairs
   */
  public LoadOptions(String[] args) {
    for (int i = 0; i < args.length; i += 2) {
      if (!args[i].startsWith("--") || i + 1 == args.length) {
        throw new IllegalArgumentException("expected --name value, got " + args[i]);
      }
      given.put(args[i].substring(2), args[i + 1]);
    }
  }

  /** A number that fits 32 bits. */
  public int number(String name, int otherwise) {
    return Integer.parseInt(text(name, Integer.toString(otherwise)));
  }

  /** Anything. */
  public String text(String name, String otherwise) {
    known.add(name);
    return given.getOrDefault(name, otherwise);
  }

  /** Call after the last read. */
  public void refuseUnknown() {
    for (String name : given.keySet()) {
      if (!known.contains(name)) {
        throw new IllegalArgumentException("unknown option --" + name + "; known: " + known);
      }
    }
  }
}
