// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.query.parse.BodyType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/**
 * How long does one MessagePack {@code /query} body take to parse, and what does it allocate
 * ({@code -prof gc})? Over half of the token ids take five bytes in an array, the others three.
 */
public class MsgpackParseBench extends QueryParsing {
  @Param({"bytes", "array"})
  String form;

  @Override
  byte[] encode(int[] ids) throws IOException {
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
    return parseNext(BodyType.MSGPACK, null);
  }
}
