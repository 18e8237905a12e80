// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.keys;

import io.kvindex.model.registration.ShardDimension;
import java.util.EnumMap;
import org.jspecify.annotations.Nullable;

/**
 * Keys of LMCache: {@code [format@]model@world_size@worker_id@chunk_hash[@dtype][@tag%value...]},
 * with {@code @layer} behind where layers are put one by one. The chunk hash is hex: an integer
 * that may be negative, or a digest, of which the last 8 bytes count. Chunks have a size (256
 * tokens) and a hash of their own, so they go with LMCache's events, not with the engine's. Source:
 * LMCache, {@code CacheEngineKey.to_string} in {@code lmcache/utils.py}.
 */
final class LmCacheKey {

  private static final int MIN_HASH_DIGITS = 6;

  /** Segments that may stand behind the chunk hash, tags aside: dtype and layer. */
  private static final int MAX_BEHIND = 2;

  private LmCacheKey() {}

  static @Nullable ObjectKey parse(String key, String model) {
    int end = key.length();
    for (int at = key.lastIndexOf('@'); at > 0; at = key.lastIndexOf('@', end - 1)) {
      if (key.indexOf('%', at) < 0 || key.indexOf('%', at) >= end) {
        break;
      }
      end = at;
    }
    int layerAt = end;
    for (int behind = 0; behind <= MAX_BEHIND; behind++) {
      int at = key.lastIndexOf('@', end - 1);
      if (at <= 0) {
        return null;
      }
      ObjectKey found = read(key, at, end, model);
      if (found != null) {
        return withLayer(found, key.substring(end, layerAt));
      }
      end = at;
    }
    return null;
  }

  /** The key whose chunk hash stands between {@code at} and {@code end}, null if none does. */
  private static @Nullable ObjectKey read(String key, int at, int end, String model) {
    Long hash = hash(key.substring(at + 1, end));
    int workerAt = key.lastIndexOf('@', at - 1);
    int worldAt = workerAt <= 0 ? -1 : key.lastIndexOf('@', workerAt - 1);
    if (hash == null || worldAt <= 0) {
      return null;
    }
    Integer worker = KeyText.number(key.substring(workerAt + 1, at));
    Integer world = KeyText.number(key.substring(worldAt + 1, workerAt));
    if (worker == null || world == null || worker >= world) {
      return null;
    } else if (!KeyText.namesModel(key.substring(0, worldAt), model)) {
      return ObjectKey.OTHER_MODEL;
    }
    EnumMap<ShardDimension, Integer> part = new EnumMap<>(ShardDimension.class);
    part.put(ShardDimension.TP, worker);
    return new ObjectKey(ObjectKey.Use.BLOCK, hash, null, part, world == 1);
  }

  private static @Nullable Long hash(String text) {
    boolean negative = text.startsWith("-");
    String hex = negative ? text.substring(1) : text;
    if (hex.length() < MIN_HASH_DIGITS || !KeyText.isHex(hex)) {
      return null;
    }
    long bits = KeyText.lastBytes(hex);
    return negative ? -bits : bits;
  }

  private static ObjectKey withLayer(ObjectKey key, String behind) {
    Integer layer = KeyText.number(behind.substring(behind.lastIndexOf('@') + 1));
    if (layer == null || key.use() != ObjectKey.Use.BLOCK) {
      return key;
    }
    EnumMap<ShardDimension, Integer> part = new EnumMap<>(ShardDimension.class);
    part.putAll(key.part());
    part.put(ShardDimension.LAYERS, layer);
    return ObjectKey.part(key.hash(), part);
  }
}
