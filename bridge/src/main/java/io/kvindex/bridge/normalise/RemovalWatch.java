// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Whether the removals of a store's master are of one medium each. A master that means every medium
 * by one (all before Mooncake #3818) never removes an object again, from another medium, before it
 * was stored again; so one that does means what it says. Until it is seen to, a removal means every
 * medium. Bounded in objects; for one thread.
 */
final class RemovalWatch {

  static final int MOST = 10_000;

  private boolean perMedium;
  private final Map<String, String> lastRemoved =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
          return size() > MOST;
        }
      };

  void stored(String object) {
    lastRemoved.remove(object);
  }

  /** Whether this removal, and what comes after it, is of that medium only. */
  boolean isOfOneMedium(String object, String medium) {
    if (!perMedium) {
      String name = medium.toLowerCase(Locale.ROOT);
      String before = lastRemoved.put(object, name);
      perMedium = before != null && !before.equals(name);
      if (perMedium) {
        lastRemoved.clear();
      }
    }
    return perMedium;
  }
}
