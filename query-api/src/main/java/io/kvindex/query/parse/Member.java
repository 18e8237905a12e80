// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import java.nio.charset.StandardCharsets;

/** What a member of a query body means; several spellings may share one meaning. */
enum Member {
  MODEL("model", "modelname"),
  BLOCK_SIZE("block_size"),
  TOKENS("token_ids"),
  HASHES("seq_hashes", "block_hash"),
  TENANT("tenant_id"),
  LORA_NAME("lora_name"),
  LORA_ID("lora_id"),
  CACHE_SALT("cache_salt", "additionalsalt"),
  INSTANCE("instance_id"),
  /** Dynamo's from here on: the model, hashes of single blocks, its name of a tenant. */
  MODEL_NAME("model_name"),
  BLOCK_HASHES("block_hashes"),
  ROUTING_GROUP("routing_group"),
  /** Of all dialects; rare, and an object. */
  MIN_EVENT("min_event"),
  UNKNOWN();

  private static final Member[] ALL = values();
  private final byte[][] spellings;

  Member(String... spellings) {
    this.spellings = new byte[spellings.length][];
    for (int i = 0; i < spellings.length; i++) {
      this.spellings[i] = spellings[i].getBytes(StandardCharsets.US_ASCII);
    }
  }

  int bit() {
    return 1 << ordinal();
  }

  /** The meaning of the name in {@code [from, to)}. */
  static Member of(byte[] text, int from, int to) {
    for (Member member : ALL) {
      for (byte[] spelling : member.spellings) {
        if (spelling.length == to - from && matches(spelling, text, from)) {
          return member;
        }
      }
    }
    return UNKNOWN;
  }

  private static boolean matches(byte[] spelling, byte[] text, int from) {
    for (int i = 0; i < spelling.length; i++) {
      if (text[from + i] != spelling[i]) {
        return false;
      }
    }
    return true;
  }
}
