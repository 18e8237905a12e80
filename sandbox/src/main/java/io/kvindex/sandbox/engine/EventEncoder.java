// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import io.kvindex.sandbox.engine.EngineEvent.Block;
import io.kvindex.sandbox.engine.EngineEvent.Origin;
import io.kvindex.sandbox.engine.EngineEvent.Removed;
import io.kvindex.sandbox.engine.EngineEvent.Stored;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * Encodes batches as the engines' publishers do: {@code [ts, events, rank]}, events as arrays or
 * maps. Field order is the engines' declaration order.
 *
 * <pre>
 * BlockStored   vLLM:   block_hashes, parent_block_hash, token_ids, block_size, lora_id, medium,
 *                       lora_name, extra_keys, group_idx, kv_cache_spec_kind, (sliding window: nil)
 *               SGLang: ... lora_id, medium, then cache_salt: array index 7 is {"cache_salt": s}
 * BlockRemoved  vLLM:   block_hashes, medium, group_idx      SGLang: block_hashes, medium
 * </pre>
 *
 * <p>Arrays carry every field, nil included; maps leave out optional ones that are nil. Sources:
 * vLLM {@code kv_events.py} as of v0.26, SGLang {@code disaggregation/kv_events.py} as of September
 * 2026. Not thread-safe.
 */
final class EventEncoder {
  private static final int FULL_ATTENTION_GROUP = 0;
  private static final String FULL_ATTENTION = "full_attention";

  private static final byte UINT64 = (byte) 0xcf;

  private final EngineDialect dialect;
  private final EventForm form;
  private final MessageBufferPacker packer = MessagePack.newDefaultBufferPacker();

  EventEncoder(EngineDialect dialect, EventForm form) {
    this.dialect = dialect;
    this.form = form;
  }

  /**
   * @param timestamp seconds since the epoch
   * @param rank data-parallel rank of the publisher
   */
  byte[] encode(double timestamp, List<EngineEvent> events, int rank) {
    try {
      packer.clear();
      packer.packArrayHeader(3);
      packer.packDouble(timestamp);
      packer.packArrayHeader(events.size());
      for (EngineEvent event : events) {
        pack(event);
      }
      packer.packInt(rank);
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory does not fail", e);
    }
  }

  private void pack(EngineEvent event) throws IOException {
    if (event instanceof Stored stored) {
      packStored(stored);
    } else if (event instanceof Removed removed) {
      packRemoved(removed);
    } else {
      begin("AllBlocksCleared", 0);
    }
  }

  private void packStored(Stored stored) throws IOException {
    Origin origin = stored.origin();
    boolean placeholder = origin.blockSize() == 0;
    begin("BlockStored", storedFields(stored, placeholder));
    key("block_hashes");
    packer.packArrayHeader(stored.blocks().size());
    for (Block block : stored.blocks()) {
      packHash(block.hash());
    }
    key("parent_block_hash");
    if (origin.parent() == null) {
      packer.packNil();
    } else {
      packHash(origin.parent());
    }
    key("token_ids");
    packTokens(stored.blocks());
    key("block_size");
    packer.packInt(origin.blockSize());
    key("lora_id");
    packNullable(dialect == EngineDialect.VLLM ? origin.loraId() : null);
    key("medium");
    packer.packString(dialect.spell(stored.medium()));
    if (dialect == EngineDialect.VLLM) {
      packVllmTail(stored, placeholder);
    } else if (origin.salt() != null) {
      packSglangSalt(origin.salt());
    }
  }

  /** Fields after the tag. */
  private int storedFields(Stored stored, boolean placeholder) {
    if (dialect == EngineDialect.SGLANG) {
      return stored.origin().salt() == null ? 6 : 7;
    }
    if (form == EventForm.ARRAY) {
      return 11;
    }
    return placeholder ? 7 : 10;
  }

  private void packVllmTail(Stored stored, boolean placeholder) throws IOException {
    Origin origin = stored.origin();
    key("lora_name");
    packNullable(origin.lora());
    if (placeholder) {
      for (int i = 0; form == EventForm.ARRAY && i < 4; i++) {
        packer.packNil();
      }
      return;
    }
    key("extra_keys");
    packExtraKeys(stored);
    key("group_idx");
    packer.packInt(FULL_ATTENTION_GROUP);
    key("kv_cache_spec_kind");
    packer.packString(FULL_ATTENTION);
    if (form == EventForm.ARRAY) {
      packer.packNil();
    }
  }

  /** One entry per block: the adapter's name on each, the salt on the prompt's first. */
  private void packExtraKeys(Stored stored) throws IOException {
    Origin origin = stored.origin();
    packer.packArrayHeader(stored.blocks().size());
    for (int i = 0; i < stored.blocks().size(); i++) {
      String salt = i == 0 && origin.first() ? origin.salt() : null;
      List<String> keys = Stream.of(origin.lora(), salt).filter(Objects::nonNull).toList();
      if (keys.isEmpty()) {
        packer.packNil();
        continue;
      }
      packer.packArrayHeader(keys.size());
      for (String extra : keys) {
        packer.packString(extra);
      }
    }
  }

  private void packSglangSalt(String salt) throws IOException {
    if (form == EventForm.ARRAY) {
      packer.packMapHeader(1);
    }
    packer.packString("cache_salt");
    packer.packString(salt);
  }

  private void packRemoved(Removed removed) throws IOException {
    boolean grouped = dialect == EngineDialect.VLLM;
    // vLLM's offloading connector knows no groups; arrays show the absent one as nil.
    boolean groupKnown = grouped && removed.medium() == Medium.GPU;
    begin("BlockRemoved", groupKnown || (grouped && form == EventForm.ARRAY) ? 3 : 2);
    key("block_hashes");
    packer.packArrayHeader(1);
    packHash(removed.hash());
    key("medium");
    packer.packString(dialect.spell(removed.medium()));
    if (groupKnown) {
      key("group_idx");
      packer.packInt(FULL_ATTENTION_GROUP);
    } else if (grouped && form == EventForm.ARRAY) {
      packer.packNil();
    }
  }

  private void begin(String tag, int fields) throws IOException {
    if (form == EventForm.ARRAY) {
      packer.packArrayHeader(fields + 1);
    } else {
      packer.packMapHeader(fields + 1);
      packer.packString("type");
    }
    packer.packString(tag);
  }

  private void key(String name) throws IOException {
    if (form == EventForm.MAP) {
      packer.packString(name);
    }
  }

  private void packTokens(List<Block> blocks) throws IOException {
    packer.packArrayHeader(blocks.stream().mapToInt(b -> b.tokens().length).sum());
    for (Block block : blocks) {
      for (int token : block.tokens()) {
        packer.packLong(Integer.toUnsignedLong(token));
      }
    }
  }

  private void packHash(long hash) throws IOException {
    if (hash >= 0 || dialect == EngineDialect.SGLANG) {
      packer.packLong(hash);
    } else {
      // uint64; the packer itself only takes such a value as a BigInteger.
      packer.addPayload(ByteBuffer.allocate(9).put(UINT64).putLong(hash).array());
    }
  }

  private void packNullable(@Nullable Object value) throws IOException {
    if (value == null) {
      packer.packNil();
    } else if (value instanceof Integer number) {
      packer.packInt(number);
    } else {
      packer.packString(value.toString());
    }
  }
}
