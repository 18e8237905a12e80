// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.model.registration.Endpoint;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import org.jspecify.annotations.Nullable;

/**
 * Keeps apart the engines that connect to one bound endpoint: only their topics tell them apart, so
 * a registration that names none has the first one it hears. An LMCache speaks under several, of
 * its node and of its pools, and numbers its batches over all of them (LMCache#4768). I/O thread
 * only.
 */
final class TopicGuard {

  private final boolean guards;
  private @Nullable String first;

  TopicGuard(Registration registration) {
    guards = Endpoint.isBound(registration.endpoint()) && registration.options().topic().isEmpty();
  }

  /** Whether a message of that topic is of the engine followed. */
  boolean admits(String topic) {
    if (!guards) {
      return true;
    }
    if (first == null || isPools(first) && isNodes(topic)) {
      first = topic;
    }
    return first.equals(topic) || isPools(topic) && (isNodes(first) || isPools(first));
  }

  private static boolean isNodes(String topic) {
    return topic.startsWith(SourceOptions.LMCACHE_NODE);
  }

  private static boolean isPools(String topic) {
    return topic.startsWith(SourceOptions.LMCACHE_POOL);
  }

  /** What to tell people about a message that is not. */
  String problem(String topic) {
    return "engines with the topics \""
        + first
        + "\" and \""
        + topic
        + "\" connect to this endpoint: register each with its `topic`";
  }
}
