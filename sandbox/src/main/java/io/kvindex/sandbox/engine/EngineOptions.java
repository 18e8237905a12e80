// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import io.kvindex.model.hash.HashProfile;
import java.time.InstantSource;

/**
 * How a simulated engine behaves: begin with {@link #vllm} or {@link #sglang}, change what matters,
 * and change nothing more once an engine has it. Not thread-safe.
 */
public final class EngineOptions {
  private final String name;
  private final EngineDialect dialect;
  private int blockSize = 16;
  private int rank;
  private int replayBatches = 10_000;
  private double fullReports;
  ReplayFraming framing;
  EngineHashing hashing;
  EventForm form = EventForm.MAP;
  boolean deviceTokens = true;
  HostStoreForm hostStores = HostStoreForm.TOKENS;
  long seed;
  String pythonHashSeed = HashProfile.DEFAULT_VLLM_SEED;
  int gpuBlocks = 4_096;
  int hostBlocks;
  String topic = "";
  int liveHighWaterMark = 100_000;
  int replayHighWaterMark = 1_000;
  double replayLoss;
  InstantSource clock = InstantSource.system();

  private EngineOptions(
      String name, EngineDialect dialect, ReplayFraming framing, EngineHashing hashing) {
    this.name = name;
    this.dialect = dialect;
    this.framing = framing;
    this.hashing = hashing;
    this.seed = name.hashCode();
  }

  /**
   * vLLM as of v0.26: map events, replay with topic frame, its own SHA-256 chain.
   *
   * @param name names threads and log lines
   */
  public static EngineOptions vllm(String name) {
    return new EngineOptions(
        name, EngineDialect.VLLM, ReplayFraming.VLLM_026, EngineHashing.VLLM_SHA256_CBOR);
  }

  /** SGLang as of September 2026: map events, old replay framing, signed hashes. */
  public static EngineOptions sglang(String name) {
    return new EngineOptions(
        name, EngineDialect.SGLANG, ReplayFraming.OLD, EngineHashing.SGLANG_SHA256);
  }

  /** Starts an engine with these options. */
  public SimulatedEngine start() {
    return SimulatedEngine.start(this);
  }

  /** Names the engine, its threads and its log lines. */
  public String name() {
    return name;
  }

  /** Whose events it sends. */
  public EngineDialect dialect() {
    return dialect;
  }

  /** Tokens in a block: what a registration of this engine names. */
  public int blockSize() {
    return blockSize;
  }

  /** Data-parallel rank: what a registration of this engine names. */
  public int rank() {
    return rank;
  }

  /** Batches kept for replay. */
  public int replayBatches() {
    return replayBatches;
  }

  /** Share of requests whose blocks are all announced. */
  public double fullReports() {
    return fullReports;
  }

  /** Layout of the events. */
  public EngineOptions form(EventForm value) {
    form = value;
    return this;
  }

  /** Layout of replay replies. */
  public EngineOptions framing(ReplayFraming value) {
    framing = value;
    return this;
  }

  /** Whether stores on the device come with their tokens. */
  public EngineOptions deviceTokens(boolean value) {
    deviceTokens = value;
    return this;
  }

  /** What stores in the host tier say. */
  public EngineOptions hostStores(HostStoreForm value) {
    hostStores = value;
    return this;
  }

  /** How blocks are named. */
  public EngineOptions hashing(EngineHashing value) {
    hashing = value;
    return this;
  }

  /** Of what is random; give each engine another one. */
  public EngineOptions seed(long value) {
    seed = value;
    return this;
  }

  /** Text vLLM's hashes start from. */
  public EngineOptions pythonHashSeed(String value) {
    pythonHashSeed = value;
    return this;
  }

  /** Tokens in a block, at least 1. */
  public EngineOptions blockSize(int value) {
    blockSize = atLeast(1, "blockSize", value);
    return this;
  }

  /** Device blocks, at least 1; a longer prompt is cached as far as they reach. */
  public EngineOptions gpuBlocks(int value) {
    gpuBlocks = atLeast(1, "gpuBlocks", value);
    return this;
  }

  /** Blocks of the host tier, 0 = no such tier. */
  public EngineOptions hostBlocks(int value) {
    hostBlocks = atLeast(0, "hostBlocks", value);
    return this;
  }

  /** Data-parallel rank stamped on batches. */
  public EngineOptions rank(int value) {
    rank = atLeast(0, "rank", value);
    return this;
  }

  /** Topic frame, may be empty. */
  public EngineOptions topic(String value) {
    topic = value;
    return this;
  }

  /**
   * Messages a slow subscriber may be behind before the engine drops silently; vLLM's is 100,000; 0
   * = no limit.
   */
  public EngineOptions liveHighWaterMark(int value) {
    liveHighWaterMark = atLeast(0, "liveHighWaterMark", value);
    return this;
  }

  /** Batches kept for replay, the oldest are dropped; one of a long prompt takes some 100 kB. */
  public EngineOptions replayBatches(int value) {
    replayBatches = atLeast(0, "replayBatches", value);
    return this;
  }

  /**
   * Messages a slow replay reader may be behind before the engine drops silently; engines leave
   * ZeroMQ's default of 1000; 0 = no limit.
   */
  public EngineOptions replayHighWaterMark(int value) {
    replayHighWaterMark = atLeast(0, "replayHighWaterMark", value);
    return this;
  }

  /**
   * Share of batches missing in a replay though its end marker comes, 0 to 1: what the high-water
   * mark does to a slow reader, but often.
   */
  public EngineOptions replayLoss(double value) {
    replayLoss = value;
    return this;
  }

  /**
   * Share of requests whose blocks are all announced, those that were merely reused again, 0 to 1:
   * what vLLM's {@code kv_cache_report_mode: full} does.
   */
  public EngineOptions fullReports(double value) {
    fullReports = value;
    return this;
  }

  /** Stamps batches. */
  public EngineOptions clock(InstantSource value) {
    clock = value;
    return this;
  }

  private static int atLeast(int least, String field, int value) {
    if (value < least) {
      throw new IllegalArgumentException(field + " is out of range: " + value);
    }
    return value;
  }
}
