// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.query.parse.BodyType;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** How long does one {@code /query} body in JSON take to parse? */
public class ParseBench extends QueryParsing {
  @Param({",", ", "})
  String separator;

  @Override
  byte[] encode(int[] ids) {
    String list =
        Arrays.stream(ids).mapToObj(Integer::toString).collect(Collectors.joining(separator));
    String json = "{\"model\":\"qwen2.5\",\"block_size\":16,\"token_ids\":[" + list + "]}";
    return json.getBytes(StandardCharsets.US_ASCII);
  }

  @Benchmark
  public int parse() {
    return parseNext(BodyType.JSON, null);
  }
}
