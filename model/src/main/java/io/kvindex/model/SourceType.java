// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model;

import java.util.Locale;
import java.util.Optional;

/**
 * Kinds of publishers, by the wire name a registration uses. The {@link #code()} is stored: never
 * renumber.
 */
public enum SourceType {
  VLLM("vLLM", 1, false),
  SGLANG("SGLang", 2, false),
  /** A pool: its blocks serve every instance of the same context; it is no result row itself. */
  MOONCAKE("Mooncake", 3, true),
  /** A publisher of the standard RFC 1527 envelope. */
  KV_EVENTS("KVEvents", 4, false),
  /** Speaks vLLM's map form. Source: TensorRT-LLM, {@code pyexecutor/kv_cache_events.py}. */
  TENSORRT_LLM("TensorRT-LLM", 5, false);

  /** What its own tools call TensorRT-LLM. */
  private static final String TRTLLM = "trtllm";

  private final String wireName;
  private final int code;
  private final boolean pool;

  SourceType(String wireName, int code, boolean pool) {
    this.wireName = wireName;
    this.code = code;
    this.pool = pool;
  }

  /** Name in registrations and answers. */
  public String wireName() {
    return wireName;
  }

  /** Stable number in stored records, 1..127. */
  public int code() {
    return code;
  }

  /** Whether blocks of such a publisher serve every instance of their context. */
  public boolean isPool() {
    return pool;
  }

  /** The type whose wire name equals {@code name}, case, hyphens and underscores ignored. */
  public static Optional<SourceType> byWireName(String name) {
    String wanted = plain(name);
    for (SourceType type : values()) {
      if (plain(type.wireName).equals(wanted)) {
        return Optional.of(type);
      }
    }
    return wanted.equals(TRTLLM) ? Optional.of(TENSORRT_LLM) : Optional.empty();
  }

  private static String plain(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[-_]", "");
  }

  /**
   * The type stored under {@code code}.
   *
   * @throws IllegalArgumentException if no version of kvindex knows that code
   */
  public static SourceType byCode(int code) {
    for (SourceType type : values()) {
      if (type.code == code) {
        return type;
      }
    }
    throw new IllegalArgumentException("unknown source type code " + code);
  }
}
