// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.query.parse.BodyType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.openjdk.jmh.annotations.Benchmark;

/** How long does an {@code application/octet-stream} query take to read? */
public class OctetParseBench extends QueryParsing {
  private static final String PARAMETERS = "model=qwen2.5&block_size=16";

  /** As Jetty hands them out: another object each time. */
  private final String[] parameters = new String[16];

  private int turn;

  public OctetParseBench() {
    Arrays.setAll(parameters, i -> new StringBuilder(PARAMETERS).toString());
  }

  @Override
  byte[] encode(int[] ids) {
    ByteBuffer bytes =
        ByteBuffer.allocate(Integer.BYTES * ids.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asIntBuffer().put(ids);
    return bytes.array();
  }

  @Benchmark
  public int parse() {
    return parseNext(BodyType.OCTETS, parameters[turn++ % parameters.length]);
  }
}
