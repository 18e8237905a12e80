// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.bridge.zmq.IoLoop;
import io.kvindex.bridge.zmq.Replays;

/** Starts to follow publishers. Thread-safe. */
public final class Followers {

  private final FollowContext context;

  /** All of them share these. */
  public Followers(
      IoLoop loop,
      Replays replays,
      EventSink sink,
      BatchDecoder.Factory decoders,
      BridgeMetrics metrics,
      FollowLimits limits) {
    context =
        new FollowContext(
            loop,
            replays,
            sink,
            decoders,
            metrics,
            limits,
            new LiveBuffer.Pool(limits.bufferedBytes()));
  }

  /**
   * Follows a publisher through a life that was claimed before, and the next ones.
   *
   * @param claims where those are claimed
   */
  public Following start(Life life, LifeClaims claims) throws InterruptedException {
    Follower follower = new Follower(life, context, claims);
    context.loop().execute(follower::open);
    return new Following(life, follower, context.loop());
  }
}
