// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.Frame;
import io.kvindex.bridge.decode.Frames;
import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.model.Clock;
import io.kvindex.model.registration.Endpoint;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What comes through a publisher's event socket: batches, or what is counted. Keeps apart the
 * engines that connect to one bound endpoint: only their topics tell them apart, so a registration
 * that names none has the first one it hears. An LMCache speaks under several, of its node and of
 * its pools, and numbers its batches over all of them (LMCache#4768). For its loop's thread only.
 */
final class LiveFrames {

  private final FollowStatus status;
  private final boolean guards;
  private @Nullable String first;

  LiveFrames(Registration registration, FollowStatus status) {
    this.status = status;
    guards = Endpoint.isBound(registration.endpoint()) && registration.options().topic().isEmpty();
  }

  /** The batch in a message, null = it holds none of this publisher. */
  @Nullable RawBatch read(List<byte[]> frames) {
    status.received(false, 1);
    Frame frame = Frames.live(frames, Clock.micros());
    if (!(frame instanceof RawBatch batch)) {
      status.outcome(FrameOutcome.MALFORMED, 1);
      status.problem("a live message is no batch: " + frame);
      return null;
    }
    if (!admits(batch.topic())) {
      status.outcome(FrameOutcome.OTHER_TOPIC, 1);
      status.ambiguous(problem(batch.topic()));
      return null;
    }
    return batch;
  }

  /** Whether a message of that topic is of the engine followed. */
  private boolean admits(String topic) {
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
  private String problem(String topic) {
    return "engines with the topics \""
        + first
        + "\" and \""
        + topic
        + "\" connect to this endpoint: register each with its `topic`";
  }
}
