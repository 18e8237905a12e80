// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryBodyParser;
import io.kvindex.query.parse.QueryForm;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long does one MessagePack {@code /query} body take to parse, and what does it allocate
 * ({@code -prof gc})? Token ids as in {@link ParseBench}: over half of them take five bytes in an
 * array, the others three, in an order no predictor learns.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 10, time = 1)
@Fork(3)
public class MsgpackParseBench {
  private static final int BODIES = 16;
  private static final int VOCABULARY = 151_936;

  @Param({"512", "4096", "32768"})
  int tokens;

  @Param({"bytes", "array"})
  String form;

  private final QueryBodyParser parser = new QueryBodyParser(1 << 20);
  private final QueryBody body = new QueryBody();
  private final byte[][] texts = new byte[BODIES][];
  private int next;

  @Setup
  public void build() throws IOException {
    Random random = new Random(7);
    for (int i = 0; i < BODIES; i++) {
      byte[] text = packed(random.ints(tokens, 0, VOCABULARY).toArray());
      texts[i] = Arrays.copyOf(text, text.length + QueryBodyParser.PADDING);
    }
  }

  private byte[] packed(int[] ids) throws IOException {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packMapHeader(3);
      packer.packString("model").packString("qwen2.5");
      packer.packString("block_size").packInt(16);
      packer.packString("token_ids");
      if (form.equals("bytes")) {
        ByteBuffer bytes =
            ByteBuffer.allocate(ids.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asIntBuffer().put(ids);
        packer.packBinaryHeader(bytes.capacity());
        packer.writePayload(bytes.array());
      } else {
        packer.packArrayHeader(ids.length);
        for (int id : ids) {
          packer.packInt(id);
        }
      }
      return packer.toByteArray();
    }
  }

  @Benchmark
  public int parse() {
    byte[] text = texts[next++ % BODIES];
    int length = text.length - QueryBodyParser.PADDING;
    parser.parse(BodyType.MSGPACK, text, length, QueryForm.TOKENS, null, body);
    return body.tokens()[body.count() - 1];
  }
}
