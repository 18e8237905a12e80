// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Hashes that events stated for keys which do not tell them: later events about the same object
 * name the key alone. Bounded; what is forgotten, or was said before this process began, makes such
 * an event unreadable, which is counted. For one thread.
 */
final class NamedKeys {

  private static final int MOST = 100_000;

  private final Map<String, Long> hashes =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
          return size() > MOST;
        }
      };

  void learn(String key, long hash) {
    hashes.put(key, hash);
  }

  @Nullable Long hash(String key) {
    return hashes.get(key);
  }
}
