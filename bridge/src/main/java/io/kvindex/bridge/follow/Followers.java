// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.metrics.FaultLog;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.bridge.zmq.IoLoop;
import io.kvindex.bridge.zmq.IoLoops;
import io.kvindex.bridge.zmq.Replays;
import io.kvindex.model.registration.Registration;

/** Starts to follow publishers, and has what all followers share. Thread-safe. */
public final class Followers {

  private final IoLoops loops;
  final Replays replays;
  final EventSink sink;
  final BridgeMetrics metrics;
  final FaultLog faults = new FaultLog();
  final FollowLimits limits;
  final LiveBuffer.Pool buffers;

  /** All of them share these. */
  public Followers(
      IoLoops loops, Replays replays, EventSink sink, BridgeMetrics metrics, FollowLimits limits) {
    this.loops = loops;
    this.replays = replays;
    this.sink = sink;
    this.metrics = metrics;
    this.limits = limits;
    this.buffers = new LiveBuffer.Pool(limits.bufferedBytes());
  }

  /**
   * Follows a publisher through a life that was claimed before, and the next ones.
   *
   * @param claims where those are claimed
   */
  public Following start(Life life, LifeClaims claims) throws InterruptedException {
    Registration registration = life.registration();
    IoLoop loop = loops.of(registration.publisher(), registration.endpoint());
    Follower follower = new Follower(life, this, loop, claims);
    loop.execute(follower::open);
    return new Following(life, follower, loop);
  }
}
