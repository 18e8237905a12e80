// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.metrics.BridgeMetrics;
import io.kvindex.bridge.produce.EventSink;
import io.kvindex.bridge.zmq.IoLoop;
import io.kvindex.bridge.zmq.Replays;

/** What all followers of a bridge share. */
record FollowContext(
    IoLoop loop,
    Replays replays,
    EventSink sink,
    BatchDecoder.Factory decoders,
    BridgeMetrics metrics,
    FollowLimits limits,
    LiveBuffer.Pool buffers) {}
