// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.Frame;
import io.kvindex.bridge.decode.Frames;
import io.kvindex.model.SourceType;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

class TapPrinterTest {

  private final StringWriter out = new StringWriter();

  @Test
  void shouldShowWhatTellsGroupsAndKeys_whenABlockHasThem() throws IOException {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packDouble(1.5).packArrayHeader(2);
      packer.packMapHeader(9).packString("type").packString("BlockStored");
      packer.packString("block_hashes").packArrayHeader(2).packLong(1).packLong(2);
      packer.packString("parent_block_hash").packLong(7);
      packer.packString("token_ids").packArrayHeader(2).packInt(31_415).packInt(5);
      packer.packString("block_size").packInt(1);
      packer.packString("group_idx").packInt(1);
      packer.packString("kv_cache_spec_kind").packString("sliding_window");
      packer.packString("kv_cache_spec_sliding_window").packInt(4_096);
      packer.packString("extra_keys").packArrayHeader(2).packNil();
      packer.packArrayHeader(1).packArrayHeader(2).packString("image-digest").packInt(0);
      packer.packMapHeader(1).packString("type").packString("AllBlocksCleared");
      packer.packInt(0);
      print(SourceType.VLLM, packer.toByteArray());
    }
    assertThat(out.toString())
        .contains("group=1 kind=sliding_window window=4096", "extra_keys=on 1 of 2 blocks")
        .contains("cleared medium=null")
        .doesNotContain("31415", "image-digest");
  }

  @Test
  void shouldShowTheObject_whenAStoreTellsOfIt() throws IOException {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packLong(1_760_000_000_250L).packArrayHeader(1);
      packer.packMapHeader(5).packString("event_type").packString("removed");
      packer.packString("medium").packString("disk");
      packer.packString("tenant_id").packString("acme");
      packer.packString("object_key").packString("m@8aac");
      packer.packString("seq_hashes").packArrayHeader(0);
      packer.packInt(0);
      print(SourceType.MOONCAKE, packer.toByteArray());
    }
    assertThat(out.toString()).contains("removed medium=disk").contains("tenant=acme key=m@8aac");
  }

  private void print(SourceType type, byte[] payload) {
    byte[] sequence = ByteBuffer.allocate(Long.BYTES).putLong(3).array();
    Frame frame = Frames.live(List.of(new byte[0], sequence, payload), 1);
    new TapPrinter(EngineDecoder.forSource(type), new PrintWriter(out)).print(frame);
  }
}
