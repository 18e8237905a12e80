// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.List;

/**
 * Payloads of SGLang. Maps by key, arrays by place:
 *
 * <pre>
 * index  BlockStored (since)                    BlockRemoved (since)   AllBlocksCleared
 * 0      tag                                    tag                    tag
 * 1      block_hashes (2025-06)                 block_hashes (2025-06)  medium (some forks)
 * 2      parent_block_hash (2025-06)            medium (2026-02)
 * 3      token_ids, also pairs (2025-06)
 * 4      block_size (2025-06)
 * 5      lora_id (2025-06)
 * 6      medium (2026-02)
 * 7      metadata map: cache_salt (2026-07)
 * </pre>
 *
 * What vLLM has at 8 and beyond has no meaning here and is stepped over. Source: SGLang, {@code
 * python/sglang/srt/disaggregation/kv_events.py} and its history.
 */
public final class SglangDecoder implements EngineDecoder {

  private static final EventLayout LAYOUT =
      new EventLayout(
          List.of(
              Field.BLOCK_HASHES,
              Field.PARENT_BLOCK_HASH,
              Field.TOKEN_IDS,
              Field.BLOCK_SIZE,
              Field.LORA_ID,
              Field.MEDIUM,
              Field.LORA_NAME_OR_METADATA),
          List.of(Field.BLOCK_HASHES, Field.MEDIUM));

  @Override
  public DecodeResult decode(byte[] payload) {
    return new BatchReader(payload, LAYOUT).read();
  }
}
