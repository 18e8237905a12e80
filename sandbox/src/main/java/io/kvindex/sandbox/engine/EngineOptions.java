// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.time.InstantSource;

/**
 * How a simulated engine behaves. Immutable; begin with {@link #vllm} or {@link #sglang} and change
 * what matters through {@link Builder}.
 *
 * @param name names threads and log lines
 * @param dialect whose events it sends
 * @param form layout of the events
 * @param framing layout of replay replies
 * @param hostStores what stores in the host tier say
 * @param hashing how blocks are named
 * @param seed of {@link EngineHashing#RANDOM}; give each engine another one
 * @param blockSize tokens in a block, at least 1
 * @param gpuBlocks device blocks, at least 1; a longer prompt is cached as far as they reach
 * @param hostBlocks blocks of the host tier, 0 = no such tier
 * @param rank data-parallel rank stamped on batches
 * @param topic topic frame, may be empty
 * @param host address to bind
 * @param replayBatches batches kept for replay, the oldest are dropped
 * @param replayHighWaterMark messages a slow replay reader may be behind before the engine drops
 *     silently; engines leave ZeroMQ's default of 1000; 0 = no limit
 * @param clock stamps batches
 */
public record EngineOptions(
    String name,
    EngineDialect dialect,
    EventForm form,
    ReplayFraming framing,
    HostStoreForm hostStores,
    EngineHashing hashing,
    long seed,
    int blockSize,
    int gpuBlocks,
    int hostBlocks,
    int rank,
    String topic,
    String host,
    int replayBatches,
    int replayHighWaterMark,
    InstantSource clock) {

  public EngineOptions {
    require(blockSize >= 1, "blockSize", blockSize);
    require(gpuBlocks >= 1, "gpuBlocks", gpuBlocks);
    require(hostBlocks >= 0, "hostBlocks", hostBlocks);
    require(rank >= 0, "rank", rank);
    require(replayBatches >= 0, "replayBatches", replayBatches);
    require(replayHighWaterMark >= 0, "replayHighWaterMark", replayHighWaterMark);
  }

  private static void require(boolean holds, String field, int value) {
    if (!holds) {
      throw new IllegalArgumentException(field + " is out of range: " + value);
    }
  }

  /** vLLM as of v0.26: map events, replay with topic frame, its own SHA-256 chain. */
  public static Builder vllm(String name) {
    return new Builder(name, EngineDialect.VLLM)
        .framing(ReplayFraming.VLLM_026)
        .hashing(EngineHashing.VLLM_SHA256_CBOR);
  }

  /** SGLang as of September 2026: map events, old replay framing, signed hashes. */
  public static Builder sglang(String name) {
    return new Builder(name, EngineDialect.SGLANG)
        .framing(ReplayFraming.OLD)
        .hashing(EngineHashing.SGLANG_SHA256);
  }

  /** Collects changes to the defaults; not thread-safe. */
  public static final class Builder {
    private final String name;
    private final EngineDialect dialect;
    private EventForm form = EventForm.MAP;
    private ReplayFraming framing = ReplayFraming.VLLM_026;
    private HostStoreForm hostStores = HostStoreForm.TOKENS;
    private EngineHashing hashing = EngineHashing.VLLM_SHA256_CBOR;
    private long seed;
    private int blockSize = 16;
    private int gpuBlocks = 4_096;
    private int hostBlocks;
    private int rank;
    private String topic = "";
    private String host = "127.0.0.1";
    private int replayBatches = 10_000;
    private int replayHighWaterMark = 1_000;
    private InstantSource clock = InstantSource.system();

    private Builder(String name, EngineDialect dialect) {
      this.name = name;
      this.dialect = dialect;
      this.seed = name.hashCode();
    }

    public Builder form(EventForm value) {
      form = value;
      return this;
    }

    public Builder framing(ReplayFraming value) {
      framing = value;
      return this;
    }

    public Builder hostStores(HostStoreForm value) {
      hostStores = value;
      return this;
    }

    public Builder hashing(EngineHashing value) {
      hashing = value;
      return this;
    }

    public Builder seed(long value) {
      seed = value;
      return this;
    }

    public Builder blockSize(int value) {
      blockSize = value;
      return this;
    }

    public Builder gpuBlocks(int value) {
      gpuBlocks = value;
      return this;
    }

    public Builder hostBlocks(int value) {
      hostBlocks = value;
      return this;
    }

    public Builder rank(int value) {
      rank = value;
      return this;
    }

    public Builder topic(String value) {
      topic = value;
      return this;
    }

    public Builder host(String value) {
      host = value;
      return this;
    }

    public Builder replayBatches(int value) {
      replayBatches = value;
      return this;
    }

    public Builder replayHighWaterMark(int value) {
      replayHighWaterMark = value;
      return this;
    }

    public Builder clock(InstantSource value) {
      clock = value;
      return this;
    }

    /** The options as they are now. */
    public EngineOptions build() {
      return new EngineOptions(
          name,
          dialect,
          form,
          framing,
          hostStores,
          hashing,
          seed,
          blockSize,
          gpuBlocks,
          hostBlocks,
          rank,
          topic,
          host,
          replayBatches,
          replayHighWaterMark,
          clock);
    }

    /** Starts an engine with these options. */
    public SimulatedEngine start() {
      return SimulatedEngine.start(build());
    }
  }
}
