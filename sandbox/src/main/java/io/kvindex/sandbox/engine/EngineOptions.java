// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.time.InstantSource;

/**
 * How a simulated engine behaves. Immutable; begin with {@link #vllm} or {@link #sglang} and change
 * what matters through {@link Builder}.
 *
 * @param name names threads and log lines
 * @param dialect whose events it sends
 * @param cache what it caches
 * @param wire how it says so
 * @param clock stamps batches
 */
public record EngineOptions(
    String name, EngineDialect dialect, CacheOptions cache, WireOptions wire, InstantSource clock) {

  /** Tokens in a block: what a registration of this engine names. */
  public int blockSize() {
    return cache.blockSize();
  }

  /** Data-parallel rank: what a registration of this engine names. */
  public int rank() {
    return wire.rank();
  }

  static void require(boolean holds, String field, int value) {
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
    private boolean deviceTokens = true;
    private HostStoreForm hostStores = HostStoreForm.TOKENS;
    private EngineHashing hashing = EngineHashing.VLLM_SHA256_CBOR;
    private long seed;
    private String pythonHashSeed = VllmHasher.DEFAULT_SEED;
    private int blockSize = 16;
    private int gpuBlocks = 4_096;
    private int hostBlocks;
    private int rank;
    private String topic = "";
    private String host = "127.0.0.1";
    private int liveHighWaterMark = 100_000;
    private int replayBatches = 10_000;
    private int replayHighWaterMark = 1_000;
    private double fullReports;
    private double replayLoss;
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

    public Builder deviceTokens(boolean value) {
      deviceTokens = value;
      return this;
    }

    public Builder pythonHashSeed(String value) {
      pythonHashSeed = value;
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

    public Builder liveHighWaterMark(int value) {
      liveHighWaterMark = value;
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

    public Builder replayLoss(double value) {
      replayLoss = value;
      return this;
    }

    public Builder fullReports(double value) {
      fullReports = value;
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
          new CacheOptions(hashing, seed, pythonHashSeed, blockSize, gpuBlocks, hostBlocks),
          new WireOptions(
              form,
              framing,
              deviceTokens,
              hostStores,
              rank,
              topic,
              host,
              liveHighWaterMark,
              replayBatches,
              replayHighWaterMark,
              replayLoss,
              fullReports),
          clock);
    }

    /** Starts an engine with these options. */
    public SimulatedEngine start() {
      return SimulatedEngine.start(build());
    }
  }
}
