// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import java.time.Duration;

/**
 * Bounds of following.
 *
 * @param socketHighWaterMark messages ZeroMQ keeps per subscription while we do not read; beyond it
 *     they wait at the engine, which has a queue of its own (100,000 in vLLM)
 * @param bufferedBatches live batches kept per publisher while a replay runs
 * @param bufferedBytes the same for all publishers together, in bytes
 * @param recordBytes size from which a batch is split into several records, in bytes
 * @param retry pause after a failed send or a socket that could not be opened
 * @param silence how long nothing comes live until it is asked whether more was sent
 * @param recovery pause before it is looked at whether a replay has everything that was lost after
 *     all; doubled each time, up to 64 times as long
 * @param gaps what becomes of blocks once events are lost for good
 * @param traceOneIn one batch of a publisher in so many is traced, and its first one; 0 = none
 */
public record FollowLimits(
    int socketHighWaterMark,
    int bufferedBatches,
    long bufferedBytes,
    int recordBytes,
    Duration retry,
    Duration silence,
    Duration recovery,
    GapPolicy gaps,
    int traceOneIn) {

  /** For a site of some hundred engines. */
  public static final FollowLimits DEFAULT =
      new FollowLimits(
          1_000,
          20_000,
          256L << 20,
          512 << 10,
          Duration.ofSeconds(1),
          Duration.ofSeconds(3),
          Duration.ofMinutes(1),
          GapPolicy.KEEP,
          1_000);

  public FollowLimits {
    if (traceOneIn < 0) {
      throw new IllegalArgumentException("traceOneIn must be 0 or more, got " + traceOneIn);
    }
  }

  /** The same with another policy. */
  public FollowLimits with(GapPolicy policy) {
    return new FollowLimits(
        socketHighWaterMark,
        bufferedBatches,
        bufferedBytes,
        recordBytes,
        retry,
        silence,
        recovery,
        policy,
        traceOneIn);
  }

  /** The same with more or fewer batches traced. */
  public FollowLimits withTraceOneIn(int batches) {
    return new FollowLimits(
        socketHighWaterMark,
        bufferedBatches,
        bufferedBytes,
        recordBytes,
        retry,
        silence,
        recovery,
        gaps,
        batches);
  }
}
