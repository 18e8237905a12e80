// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

/**
 * A simulated engine's events on the wire.
 *
 * @param form layout of the events
 * @param framing layout of replay replies
 * @param deviceTokens whether stores on the device come with their tokens
 * @param hostStores what stores in the host tier say
 * @param rank data-parallel rank stamped on batches
 * @param topic topic frame, may be empty
 * @param host address to bind
 * @param liveHighWaterMark messages a slow subscriber may be behind before the engine drops
 *     silently; vLLM's is 100,000; 0 = no limit
 * @param replayBatches batches kept for replay, the oldest are dropped; one of a long prompt takes
 *     some 100 kB
 * @param replayHighWaterMark messages a slow replay reader may be behind before the engine drops
 *     silently; engines leave ZeroMQ's default of 1000; 0 = no limit
 * @param replayLoss share of batches missing in a replay though its end marker comes, 0 to 1: what
 *     the high-water mark does to a slow reader, but often
 * @param fullReports share of requests whose blocks are all announced, those that were merely
 *     reused again, 0 to 1: what vLLM's {@code kv_cache_report_mode: full} does
 */
public record WireOptions(
    EventForm form,
    ReplayFraming framing,
    boolean deviceTokens,
    HostStoreForm hostStores,
    int rank,
    String topic,
    String host,
    int liveHighWaterMark,
    int replayBatches,
    int replayHighWaterMark,
    double replayLoss,
    double fullReports) {

  public WireOptions {
    EngineOptions.require(rank >= 0, "rank", rank);
    EngineOptions.require(liveHighWaterMark >= 0, "liveHighWaterMark", liveHighWaterMark);
    EngineOptions.require(replayBatches >= 0, "replayBatches", replayBatches);
    EngineOptions.require(replayHighWaterMark >= 0, "replayHighWaterMark", replayHighWaterMark);
  }
}
