// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Hashes that events stated for keys which do not tell them: later events about the same object
 * name the key alone. Bounded; what is forgotten, or was said before this process began, makes such
 * an event unreadable, which is counted and leaves a doubt. For one thread.
 */
final class NamedKeys {

  private static final int MOST = 100_000;

  private boolean complete;

  private final Map<String, Long> hashes =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
          boolean full = size() > MOST;
          complete &= !full;
          return full;
        }
      };

  /**
   * @param complete whether nothing was said before
   */
  NamedKeys(boolean complete) {
    this.complete = complete;
  }

  /** Whether all that was ever said in this life is known. */
  boolean isComplete() {
    return complete;
  }

  void learn(String key, long hash) {
    hashes.put(key, hash);
  }

  /** The object is gone; if it comes again its hash is stated again. */
  void forget(String key) {
    hashes.remove(key);
  }

  /** All objects are gone. */
  void forgetAll() {
    hashes.clear();
    complete = true;
  }

  @Nullable Long hash(String key) {
    return hashes.get(key);
  }
}
