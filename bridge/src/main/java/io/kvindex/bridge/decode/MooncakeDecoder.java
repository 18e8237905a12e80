// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.List;

/**
 * Payloads of a Mooncake Store. Its master sends maps with the standard's member names, up to 64 a
 * batch, time in milliseconds, {@code object_key} beside or in place of hashes. The earlier design
 * has arrays, or maps with the same names:
 *
 * <pre>
 * index  BlockStoreEvent     BlockUpdateEvent   RemoveAllEvent
 * 0      tag                 tag                tag
 * 1      ts                  ts
 * 2      mooncake_key        mooncake_key
 * 3      addr_list           addr_list
 * 4      block_hash
 * 5      parent_block_hash
 * 6      token_id
 * 7      block_size
 * 8      model_name
 * 9      lora_name
 * 10     lora_id
 * </pre>
 *
 * A batch of those may also be a list of events alone, without time and rank. Source: Mooncake,
 * {@code mooncake-store/src/kv_event/}; the indexer proposal of its Conductor.
 */
public final class MooncakeDecoder implements EngineDecoder {

  private static final EventLayout LAYOUT =
      new EventLayout(
          List.of(),
          List.of(),
          List.of(
              Field.EVENT_TIME,
              Field.MOONCAKE_KEY,
              Field.ADDRESSES,
              Field.BLOCK_HASH,
              Field.PARENT_BLOCK_HASH,
              Field.TOKEN_ID,
              Field.BLOCK_SIZE,
              Field.MODEL_NAME,
              Field.LORA_NAME,
              Field.LORA_ID));

  @Override
  public DecodeResult decode(byte[] payload) {
    return new BatchReader(payload, LAYOUT).read();
  }
}
