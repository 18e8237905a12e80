// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryBodyParser;
import io.kvindex.query.parse.QueryForm;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
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
 * How long does one {@code /query} body take to parse? Token ids are uniform below 151,936 (the
 * vocabulary of Qwen 2.5), so nearly all have five or six digits in an order no predictor learns.
 * Sixteen different bodies take turns.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 10, time = 1)
@Fork(3)
public class ParseBench {
  private static final int BODIES = 16;
  private static final int VOCABULARY = 151_936;

  @Param({"4096", "32768"})
  int tokens;

  @Param({",", ", "})
  String separator;

  private final QueryBodyParser parser = new QueryBodyParser(1 << 20);
  private final QueryBody body = new QueryBody();
  private final byte[][] texts = new byte[BODIES][];
  private int next;

  @Setup
  public void build() {
    Random random = new Random(7);
    for (int i = 0; i < BODIES; i++) {
      String list =
          random
              .ints(tokens, 0, VOCABULARY)
              .mapToObj(Integer::toString)
              .collect(Collectors.joining(separator));
      String json = "{\"model\":\"qwen2.5\",\"block_size\":16,\"token_ids\":[" + list + "]}";
      texts[i] = json.getBytes(StandardCharsets.US_ASCII);
      texts[i] = Arrays.copyOf(texts[i], texts[i].length + QueryBodyParser.PADDING);
    }
  }

  @Benchmark
  public int parse() {
    byte[] text = texts[next++ % BODIES];
    parser.parse(text, text.length - QueryBodyParser.PADDING, QueryForm.TOKENS, body);
    return body.tokens()[body.count() - 1];
  }
}
