// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.List;

/**
 * Payloads of vLLM and of those that speak its format (LMCache, the Mooncake connector, Dynamo's
 * TensorRT-LLM publisher, llm-d's storage publisher). Maps by key, arrays by place:
 *
 * <pre>
 * index  BlockStored (since)                    BlockRemoved (since)   AllBlocksCleared
 * 0      tag                                    tag                    tag
 * 1      block_hashes (0.9)                     block_hashes (0.9)     medium (some forks)
 * 2      parent_block_hash (0.9)                medium (0.11)
 * 3      token_ids (0.9)                        group_idx (0.20)
 * 4      block_size (0.9)
 * 5      lora_id (0.9)
 * 6      medium (0.11)
 * 7      lora_name (0.13)
 * 8      extra_keys (0.16)
 * 9      group_idx (0.20)
 * 10     kv_cache_spec_kind (0.20)
 * 11     kv_cache_spec_sliding_window (0.20)
 * </pre>
 *
 * Newer members (locality, ownership, remaining_copy_counts) exist in maps only. Source: vLLM,
 * {@code vllm/distributed/kv_events.py} and its history; versions are approximate.
 */
public final class VllmDecoder implements EngineDecoder {

  private static final EventLayout LAYOUT =
      new EventLayout(
          List.of(
              Field.BLOCK_HASHES,
              Field.PARENT_BLOCK_HASH,
              Field.TOKEN_IDS,
              Field.BLOCK_SIZE,
              Field.LORA_ID,
              Field.MEDIUM,
              Field.LORA_NAME_OR_METADATA,
              Field.EXTRA_KEYS,
              Field.GROUP,
              Field.SPEC_KIND,
              Field.SLIDING_WINDOW),
          List.of(Field.BLOCK_HASHES, Field.MEDIUM, Field.GROUP));

  @Override
  public DecodeResult decode(byte[] payload) {
    return new BatchReader(payload, LAYOUT).read();
  }
}
