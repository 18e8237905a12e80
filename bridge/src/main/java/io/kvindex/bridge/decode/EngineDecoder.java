// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.model.SourceType;
import java.util.List;

/**
 * Decodes the payloads of one engine family. Maps are read by key, arrays by place: a decoder is
 * what stands where in its engine's positional events. Stateless; safe for all threads.
 */
public enum EngineDecoder {
  /**
   * vLLM and those that speak its format (LMCache, the Mooncake connector, Dynamo's TensorRT-LLM
   * publisher, llm-d's storage publisher).
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
  VLLM(
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
      List.of(Field.BLOCK_HASHES, Field.MEDIUM, Field.GROUP),
      List.of()),
  /**
   * SGLang.
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
  SGLANG(
      List.of(
          Field.BLOCK_HASHES,
          Field.PARENT_BLOCK_HASH,
          Field.TOKEN_IDS,
          Field.BLOCK_SIZE,
          Field.LORA_ID,
          Field.MEDIUM,
          Field.LORA_NAME_OR_METADATA),
      List.of(Field.BLOCK_HASHES, Field.MEDIUM),
      List.of()),
  /**
   * A Mooncake Store. Its master sends maps with the standard's member names, up to 64 a batch,
   * time in milliseconds, {@code object_key} beside or in place of hashes. The earlier design has
   * arrays, or maps with the same names:
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
  MOONCAKE(
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
          Field.LORA_ID)),
  /**
   * Publishers that speak the standard itself (RFC 1527): the batches of vLLM, each event a map
   * with the whole envelope; there is no positional form, so nothing is expected at any place. An
   * event without a number of its own is left out, as nothing says where in its stream it belongs.
   */
  STANDARD(List.of(), List.of(), List.of());

  /**
   * Shortest stored event of any version, tag included: hashes, parent, tokens and block size are
   * in all.
   */
  static final int MIN_STORED = 5;

  /** Time, key and addresses come first in every event about an object. */
  private static final int MEMBERS_OF_UPDATE = 3;

  private final List<Field> stored;
  private final List<Field> removed;
  private final List<Field> object;

  /**
   * Each from index 1 on (0 is the tag); elements beyond the lists are stepped over.
   *
   * @param stored members of a stored event
   * @param removed members of a removed event
   * @param object members of events about a store's objects, as many of them as an update has;
   *     empty = such events are not known
   */
  EngineDecoder(List<Field> stored, List<Field> removed, List<Field> object) {
    this.stored = stored;
    this.removed = removed;
    this.object = object;
  }

  /** The decoder for publishers registered with that type. */
  public static EngineDecoder forSource(SourceType type) {
    return switch (type) {
      case SGLANG -> SGLANG;
      case KV_EVENTS -> STANDARD;
      case MOONCAKE -> MOONCAKE;
      case VLLM, TENSORRT_LLM -> VLLM;
    };
  }

  /**
   * Decodes one payload. Never throws for what the bytes hold and takes time and memory linear in
   * their number, whatever lengths they declare.
   *
   * @param payload the last frame of a live or replay message; not changed, not kept
   * @param blockSize tokens a block where an event states none, as registered; 0 = not known: then
   *     the tokens of such events are of no use
   * @return the batch, or why there is none
   */
  public DecodeResult decode(byte[] payload, int blockSize) {
    return new BatchReader(payload, this, blockSize).read();
  }

  /** The same where no registration says what events leave out. */
  public DecodeResult decode(byte[] payload) {
    return decode(payload, 0);
  }

  /** Fewest elements of an event of that kind, tag included. */
  static int minLength(EventKind kind) {
    return switch (kind) {
      case STORED -> MIN_STORED;
      case OBJECT_STORED, OBJECT_UPDATED -> 1 + MEMBERS_OF_UPDATE;
      case REMOVED, CLEARED, STORE_EMPTIED -> 1;
    };
  }

  /** Whether events of that kind can come from such a source. */
  boolean knows(EventKind kind) {
    return switch (kind) {
      case STORED, REMOVED, CLEARED -> true;
      case OBJECT_STORED, OBJECT_UPDATED, STORE_EMPTIED -> this == MOONCAKE;
    };
  }

  /** Members of events of that kind, by their places. */
  List<Field> layout(EventKind kind) {
    return switch (kind) {
      case STORED -> stored;
      case REMOVED -> removed;
      case CLEARED -> List.of(Field.MEDIUM);
      case STORE_EMPTIED -> List.of();
      case OBJECT_STORED -> object;
      case OBJECT_UPDATED -> object.subList(0, MEMBERS_OF_UPDATE);
    };
  }
}
