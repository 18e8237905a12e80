// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryBodyParser;
import io.kvindex.query.parse.QueryForm;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import java.util.concurrent.TimeUnit;
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

/** How long does an {@code application/octet-stream} query take to read? See {@link ParseBench}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 10, time = 1)
@Fork(3)
public class OctetParseBench {
  private static final int BODIES = 16;
  private static final int VOCABULARY = 151_936;

  @Param({"512", "4096", "32768"})
  int tokens;

  private final QueryBodyParser parser = new QueryBodyParser(1 << 20);
  private final QueryBody body = new QueryBody();
  private final byte[][] octets = new byte[BODIES][];

  /** As Jetty hands it out: another object each time. */
  private final String[] parameters = new String[BODIES];

  private int next;

  @Setup
  public void build() {
    Random random = new Random(7);
    for (int i = 0; i < BODIES; i++) {
      ByteBuffer bytes =
          ByteBuffer.allocate(4 * tokens + QueryBodyParser.PADDING).order(ByteOrder.LITTLE_ENDIAN);
      bytes.asIntBuffer().put(random.ints(tokens, 0, VOCABULARY).toArray());
      octets[i] = bytes.array();
      parameters[i] = "model=qwen2.5&block_size=" + 16;
    }
  }

  @Benchmark
  public int parse() {
    int i = next++ % BODIES;
    parser.parse(BodyType.OCTETS, octets[i], 4 * tokens, QueryForm.TOKENS, parameters[i], body);
    return body.tokens()[body.count() - 1];
  }
}
