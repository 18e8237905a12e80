// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.keys;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads keys of all producers we know. Stateless; safe for all threads. */
public final class ObjectKeys {

  /** Longer ones are no keys: none of the producers makes them, and reading costs time. */
  private static final int MAX_LENGTH = 4096;

  private static final List<KeyCodec> CODECS =
      List.of(new NumberKey(), new VllmKey(), new HiCacheKey(), new LmCacheKey());

  private ObjectKeys() {}

  /** Whether two names mean one model: equal, or equal after the last slash. */
  public static boolean sameModel(String name, String model) {
    return KeyText.namesModel(name, model);
  }

  /**
   * Reads a key.
   *
   * @param model the registered model
   * @return null if no producer we know makes such keys
   */
  public static @Nullable ObjectKey parse(String key, String model) {
    if (key.length() > MAX_LENGTH) {
      return null;
    }
    for (KeyCodec codec : CODECS) {
      ObjectKey parsed = codec.parse(key, model);
      if (parsed != null) {
        return parsed;
      }
    }
    return null;
  }
}
