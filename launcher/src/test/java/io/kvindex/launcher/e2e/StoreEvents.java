// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a Mooncake master says of objects whose keys are vLLM's. */
final class StoreEvents {

  private StoreEvents() {}

  /**
   * Key of one tensor parallel rank's part of a block of {@link Api#MODEL}.
   *
   * @param name the engine's integer for the block, in which the key's digest ends
   */
  static String key(long name, int shard) {
    return "prod@org/"
        + Api.MODEL
        + "@tp_rank:"
        + shard
        + "@pcp0@dcp0@pp_rank:0@group:0@"
        + "c1".repeat(24)
        + HexFormat.of().toHexDigits(name);
  }

  static Map<String, @Nullable Object> stored(String medium, String key) {
    return event(true, medium, key);
  }

  static Map<String, @Nullable Object> removed(String medium, String key) {
    return event(false, medium, key);
  }

  /** Every member a master sends, legacy names included. */
  private static Map<String, @Nullable Object> event(boolean stored, String medium, String key) {
    Map<String, @Nullable Object> event = new LinkedHashMap<>();
    event.put("event_id", 1);
    event.put("timestamp", 1_760_000_000_250L);
    event.put("event_type", stored ? "stored" : "removed");
    event.put("type", stored ? "BlockStored" : "BlockRemoved");
    for (String absent :
        List.of("model_name", "block_size", "additional_salt", "lora_name", "dp_rank")) {
      event.put(absent, null);
    }
    event.put("tenant_id", "default");
    event.put("backend_id", "mooncake-master-0");
    event.put("group_id", null);
    event.put("medium", medium);
    event.put("object_key", key);
    event.put("seq_hashes", List.of());
    event.put("block_hashes", List.of());
    event.put("base_block_idx", stored ? 0 : null);
    return event;
  }
}
