// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Members of events that we read; all others are stepped over. */
enum Field {
  TYPE("type"),
  /** The standard envelope's tag. */
  EVENT_TYPE("event_type"),
  BLOCK_HASHES("block_hashes"),
  /** The standard's name for the same bits; preferred where both are there. */
  SEQ_HASHES("seq_hashes"),
  PARENT_BLOCK_HASH("parent_block_hash"),
  PARENT_HASH("parent_hash"),
  TOKEN_IDS("token_ids"),
  BLOCK_SIZE("block_size"),
  LORA_ID("lora_id"),
  LORA_NAME("lora_name"),
  /** A positional slot that holds vLLM's adapter name or SGLang's metadata map. */
  LORA_NAME_OR_METADATA(null),
  MEDIUM("medium"),
  EXTRA_KEYS("extra_keys"),
  /** TensorRT-LLM's multimodal inputs, one list a block. */
  MM_KEYS("mm_keys"),
  GROUP("group_idx"),
  /** TensorRT-LLM's name for it. */
  LAYER_GROUP("layer_group_id"),
  SPEC_KIND("kv_cache_spec_kind"),
  SLIDING_WINDOW("kv_cache_spec_sliding_window"),
  LOCALITY("locality"),
  OWNERSHIP("ownership"),
  ORIGIN("origin"),
  CACHE_SALT("cache_salt"),
  REMAINING_COPIES("remaining_copy_counts"),
  // The standard envelope's own, from here on.
  EVENT_ID("event_id"),
  MODEL_NAME("model_name"),
  ADDITIONAL_SALT("additional_salt"),
  TENANT_ID("tenant_id"),
  BACKEND_ID("backend_id"),
  DP_RANK("dp_rank"),
  BASE_BLOCK_IDX("base_block_idx"),
  // Of stores, from here on.
  OBJECT_KEY("object_key"),
  MOONCAKE_KEY("mooncake_key"),
  ADDRESSES("addr_list"),
  /** A single hash where others have a list. */
  BLOCK_HASH("block_hash"),
  TOKEN_ID("token_id"),
  EVENT_TIME("ts");

  static final int COUNT = values().length;

  /** Fields by the keys of maps. */
  static final NameTable<Field> BY_KEY = keys();

  private final @Nullable String key;

  Field(@Nullable String key) {
    this.key = key;
  }

  private static NameTable<Field> keys() {
    Map<String, Field> fields = new HashMap<>();
    for (Field field : values()) {
      if (field.key != null) {
        fields.put(field.key, field);
      }
    }
    return new NameTable<>(fields);
  }
}
