// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.bridge.decode.DecodeResult;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.normalise.NormalisedBatch;
import io.kvindex.bridge.normalise.Normaliser;
import io.kvindex.model.CopyPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.SourceOptions;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does one block cost from payload to event, and from payload to normal form? Batches as vLLM
 * 0.26 sends them: 8 stored events of 16 blocks of 16 tokens, token ids uniform below 151,936 (the
 * vocabulary of Qwen 2.5), hashes u64. Sixteen different payloads take turns. With {@code -prof
 * gc}, {@code gc.alloc.rate.norm} is bytes a block.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 10, time = 1)
@Fork(3)
public class DecodeBench {
  private static final int PAYLOADS = 16;
  private static final int EVENTS = 8;
  private static final int BLOCKS = 16;
  private static final int BLOCK_SIZE = 16;
  private static final int BLOCKS_A_BATCH = EVENTS * BLOCKS;
  private static final int VOCABULARY = 151_936;

  @Param({"map", "array"})
  String form;

  private final byte[][] payloads = new byte[PAYLOADS][];
  private final EngineDecoder decoder = EngineDecoder.VLLM;
  private final Normaliser normaliser = Normaliser.of(registration());
  private int next;

  @Setup
  public void build() throws IOException {
    Random random = new Random(7);
    for (int i = 0; i < PAYLOADS; i++) {
      payloads[i] = payload(random);
    }
  }

  @Benchmark
  @OperationsPerInvocation(BLOCKS_A_BATCH)
  public DecodeResult decode() {
    return decoder.decode(payloads[next++ % PAYLOADS]);
  }

  @Benchmark
  @OperationsPerInvocation(BLOCKS_A_BATCH)
  public NormalisedBatch decodeAndNormalise() {
    return normaliser.normalise((EngineBatch) decoder.decode(payloads[next++ % PAYLOADS]));
  }

  private byte[] payload(Random random) throws IOException {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packDouble(1.76e9).packArrayHeader(EVENTS);
      for (int i = 0; i < EVENTS; i++) {
        packStored(packer, random);
      }
      packer.packInt(0);
      return packer.toByteArray();
    }
  }

  private void packStored(MessageBufferPacker packer, Random random) throws IOException {
    if (form.equals("map")) {
      packer.packMapHeader(11).packString("type");
    } else {
      packer.packArrayHeader(11);
    }
    packer.packString("BlockStored");
    key(packer, "block_hashes").packArrayHeader(BLOCKS);
    for (int i = 0; i < BLOCKS; i++) {
      packer.packLong(random.nextLong());
    }
    key(packer, "parent_block_hash").packLong(random.nextLong());
    key(packer, "token_ids").packArrayHeader(BLOCKS * BLOCK_SIZE);
    for (int i = 0; i < BLOCKS * BLOCK_SIZE; i++) {
      packer.packInt(random.nextInt(VOCABULARY));
    }
    key(packer, "block_size").packInt(BLOCK_SIZE);
    key(packer, "lora_id").packNil();
    key(packer, "medium").packString("GPU");
    key(packer, "lora_name").packNil();
    key(packer, "extra_keys").packArrayHeader(BLOCKS);
    for (int i = 0; i < BLOCKS; i++) {
      packer.packNil();
    }
    key(packer, "group_idx").packInt(0);
    key(packer, "kv_cache_spec_kind").packString("full_attention");
  }

  private MessageBufferPacker key(MessageBufferPacker packer, String name) throws IOException {
    if (form.equals("map")) {
      packer.packString(name);
    }
    return packer;
  }

  private static Registration registration() {
    return new Registration(
        new PublisherId("engine", "default", 0),
        "tcp://127.0.0.1:5557",
        null,
        SourceType.VLLM,
        new TableId("default", "model", BLOCK_SIZE, HashProfile.XXH3_DEFAULT),
        List.of(""),
        null,
        SourceOptions.of(CopyPolicy.COUNT),
        null);
  }
}
