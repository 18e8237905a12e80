// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Hashes that events stated for keys which do not tell them: later events about the same object
 * name the key alone. Bounded in keys and in their text, the least used ones go first; what is
 * forgotten, or was said before this process began, makes such an event unreadable, which is
 * counted and leaves a doubt. For one thread.
 */
final class NamedKeys {

  static final int MOST = 100_000;

  /** Characters of all keys: room for all of them at 160 characters each. */
  static final int MOST_CHARS = 16 << 20;

  private boolean complete;
  private int chars;
  private final Map<String, Long> hashes = new LinkedHashMap<>(16, 0.75f, true);

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
    if (hashes.put(key, hash) == null) {
      chars += key.length();
    }
    Iterator<String> eldest = hashes.keySet().iterator();
    while (hashes.size() > MOST || chars > MOST_CHARS) {
      chars -= eldest.next().length();
      eldest.remove();
      complete = false;
    }
  }

  /** The object is gone; if it comes again its hash is stated again. */
  void forget(String key) {
    if (hashes.remove(key) != null) {
      chars -= key.length();
    }
  }

  /** All objects are gone. */
  void forgetAll() {
    hashes.clear();
    chars = 0;
    complete = true;
  }

  @Nullable Long hash(String key) {
    return hashes.get(key);
  }
}
