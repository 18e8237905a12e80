// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which of an engine's layer groups is indexed: the one with the largest attention window, of
 * several the one with the lowest number, as TensorRT-LLM's own stream chooses ({@code
 * StreamingKVCacheEventManager}). A group of which no event says how far it looks back is not: it
 * would make a prefix look held that is not. For one thread.
 */
final class TrtllmGroups {

  /** What becomes of an event of a group. */
  enum Verdict {
    INDEXED,
    /** Indexed, and what was indexed before was of another group. */
    INDEXED_ANEW,
    SMALLER_WINDOW,
    OTHER_GROUP
  }

  private long largest = -1;
  private @Nullable Integer chosen;

  /** Nothing is known of the engine. */
  void forget() {
    largest = -1;
    chosen = null;
  }

  /** Whether events say which group they are of; a removal that does not may be of any. */
  boolean areNumbered() {
    return chosen != null;
  }

  /** Whether a window is not the largest one seen. */
  boolean isSmaller(JsonNode window) {
    return isStated(window) && window.longValue() < largest;
  }

  private static boolean isStated(JsonNode window) {
    return window.isIntegralNumber() && window.canConvertToLong();
  }

  /**
   * @param window {@code window_size} of the event
   * @param group its layer group, null = not stated
   */
  Verdict judge(JsonNode window, @Nullable Integer group) {
    if (isSmaller(window)) {
      return Verdict.SMALLER_WINDOW;
    } else if (!isStated(window)) {
      // One that says nothing of windows must not outdo those that do.
      return Objects.equals(group, chosen) ? Verdict.INDEXED : Verdict.OTHER_GROUP;
    } else if (window.longValue() > largest) {
      largest = window.longValue();
      chosen = group;
      return Verdict.INDEXED_ANEW;
    } else if (group != null && (chosen == null || group < chosen)) {
      chosen = group;
      return Verdict.INDEXED_ANEW;
    }
    return Objects.equals(group, chosen) ? Verdict.INDEXED : Verdict.OTHER_GROUP;
  }
}
