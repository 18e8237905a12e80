// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.keys;

import io.kvindex.model.registration.ShardDimension;
import java.util.EnumMap;
import org.jspecify.annotations.Nullable;

/**
 * Keys of SGLang's HiCache in Mooncake: the page's SHA-256 in hex, ranks, and which of its objects.
 *
 * <pre>
 * [[tag_]model_]hex_R_k, hex_R_v     keys and values of tensor parallel rank R
 * hex_R_P_k, hex_R_P_C_k             with pipeline rank P, context parallel rank C
 * hex__k, hex_P_k, hex               one object a page (MLA), per pipeline rank
 * </pre>
 *
 * {@code model} has dashes for slashes; versions before it was added state none. Other endings are
 * caches beside the prefix cache (draft models, sliding windows, states). The hash is the digest's
 * first 8 bytes, as in SGLang's events. Source: SGLang, {@code
 * mem_cache/storage/mooncake_store/mooncake_store.py}.
 */
final class HiCacheKey {

  private static final int DIGEST_DIGITS = 64;
  private static final int MAX_RANKS = 3;
  private static final ShardDimension[] RANKS = {
    ShardDimension.TP, ShardDimension.PP, ShardDimension.PCP
  };

  private HiCacheKey() {}

  static @Nullable ObjectKey parse(String key, String model) {
    int end = digestEnd(key);
    if (end < 0) {
      return null;
    }
    int start = end - DIGEST_DIGITS;
    if (start > 0 && !namesModel(key.substring(0, start - 1), model)) {
      return ObjectKey.OTHER_MODEL;
    }
    return read(KeyText.firstBytes(key.substring(start, end)), key.substring(end));
  }

  /** End of the last digest that stands by itself, negative if there is none. */
  private static int digestEnd(String key) {
    int end = key.length();
    while (end >= DIGEST_DIGITS) {
      int start = end - DIGEST_DIGITS;
      boolean alone = start == 0 || key.charAt(start - 1) == '_';
      if (alone && KeyText.isHex(key.substring(start, end))) {
        return end;
      }
      end = key.lastIndexOf('_', end - 1);
    }
    return -1;
  }

  private static boolean namesModel(String start, String model) {
    String dashed = model.replace('/', '-');
    return start.equals(dashed) || start.endsWith("_" + dashed);
  }

  private static @Nullable ObjectKey read(long hash, String suffix) {
    if (suffix.isEmpty() || suffix.equals("__k")) {
      return ObjectKey.whole(hash);
    }
    String[] words = suffix.substring(1).split("_", -1);
    EnumMap<ShardDimension, Integer> part = new EnumMap<>(ShardDimension.class);
    int ranks = 0;
    while (ranks < words.length && ranks < MAX_RANKS) {
      Integer rank = KeyText.number(words[ranks]);
      if (rank == null) {
        break;
      }
      part.put(RANKS[ranks++], rank);
    }
    if (ranks == words.length) {
      return ObjectKey.part(hash, part);
    } else if (ranks == words.length - 1
        && (words[ranks].equals("k") || words[ranks].equals("v"))) {
      part.put(ShardDimension.KV, words[ranks].equals("v") ? 1 : 0);
      return ranks == 0 ? null : ObjectKey.part(hash, part);
    }
    return ObjectKey.OTHER_GROUP;
  }
}
