// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryBodyParser;
import io.kvindex.query.parse.QueryForm;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
 * What all benches of query parsing share. Token ids are uniform below 151,936 (the vocabulary of
 * Qwen 2.5), so nearly all have five or six digits, in an order no predictor learns. Sixteen
 * different bodies take turns.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 10, time = 1)
@Fork(3)
public abstract class QueryParsing {
  private static final int BODIES = 16;
  private static final int VOCABULARY = 151_936;

  @Param({"512", "4096", "32768"})
  int tokens;

  private final QueryBodyParser parser = new QueryBodyParser(1 << 20);
  private final QueryBody body = new QueryBody();
  private final byte[][] texts = new byte[BODIES][];
  private int next;

  /** A query's body as it is sent. */
  abstract byte[] encode(int[] ids) throws IOException;

  @Setup
  public void build() throws IOException {
    Random random = new Random(7);
    for (int i = 0; i < BODIES; i++) {
      byte[] text = encode(random.ints(tokens, 0, VOCABULARY).toArray());
      texts[i] = Arrays.copyOf(text, text.length + QueryBodyParser.PADDING);
    }
  }

  /** Parses the next body; its last token. */
  int parseNext(BodyType type, @Nullable String parameters) {
    byte[] text = texts[next++ % BODIES];
    int length = text.length - QueryBodyParser.PADDING;
    parser.parse(type, text, length, QueryForm.TOKENS, parameters, body);
    return body.tokens()[body.count() - 1];
  }
}
