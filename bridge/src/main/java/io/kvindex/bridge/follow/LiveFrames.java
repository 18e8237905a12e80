// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.decode.Frame;
import io.kvindex.bridge.decode.Frames;
import io.kvindex.bridge.metrics.FrameOutcome;
import io.kvindex.bridge.zmq.Clock;
import io.kvindex.bridge.zmq.RawBatch;
import io.kvindex.model.registration.Registration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What comes through a publisher's event socket: batches, or what is counted. I/O thread only. */
final class LiveFrames {

  private final TopicGuard topics;
  private final FollowStatus status;

  LiveFrames(Registration registration, FollowStatus status) {
    this.topics = new TopicGuard(registration);
    this.status = status;
  }

  /** The batch in a message, null = it holds none of this publisher. */
  @Nullable RawBatch read(List<byte[]> frames) {
    status.received(false, 1);
    Frame frame = Frames.live(frames);
    if (!(frame instanceof Frame.Batch)) {
      status.outcome(FrameOutcome.MALFORMED, 1);
      status.problem("a live message is no batch: " + frame);
      return null;
    }
    Frame.Batch batch = (Frame.Batch) frame;
    if (!topics.admits(batch.topic())) {
      status.outcome(FrameOutcome.OTHER_TOPIC, 1);
      status.ambiguous(topics.problem(batch.topic()));
      return null;
    }
    return new RawBatch(batch.topic(), batch.sequence(), batch.payload(), Clock.micros());
  }
}
