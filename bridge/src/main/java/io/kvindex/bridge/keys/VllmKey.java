// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.keys;

import io.kvindex.model.registration.ShardDimension;
import java.util.EnumMap;
import org.jspecify.annotations.Nullable;

/**
 * Keys of vLLM's Mooncake connector and of vLLM-Ascend's store: labels between {@code @}, then the
 * block's digest in hex.
 *
 * <pre>
 * [prefix@]model[@store_pp:N@store_format:F]@tp_rank:T@pcpP@dcpD@pp_rank:Q@group:G@hex
 * model@pcpP@dcpD@head_or_tp_rank:R@pp_rank:Q@hex                        Ascend 0.18
 * ...@pp_rank:Q@group:G@cache_role:kv@cache_family:default@hex           Ascend 0.20.2
 * ...@cache_family:default@layer_id:L@hex, and before that ...@hex@L     a layer each
 * model@dcp:D@head_or_tp_rank:R...                                       newer
 * </pre>
 *
 * The hash is the digest's last 8 bytes, as in the same engines' events; where several digests are
 * put together, those of the last. Source: vLLM, {@code kv_connector/v1/mooncake/store/data.py};
 * vLLM-Ascend, {@code ascend_store}.
 */
final class VllmKey {

  private static final int MIN_DIGEST_DIGITS = 16;

  /** What the labels said so far. */
  private static final class Labels {
    final EnumMap<ShardDimension, Integer> part = new EnumMap<>(ShardDimension.class);
    @Nullable Integer group;
    boolean indexed = true;
    boolean shared;
  }

  private VllmKey() {}

  static @Nullable ObjectKey parse(String key, String model) {
    int at = key.lastIndexOf('@');
    if (at < 0) {
      return null;
    }
    Labels labels = new Labels();
    String hex = key.substring(at + 1);
    Integer layer = KeyText.number(hex);
    if (layer != null) {
      labels.part.put(ShardDimension.LAYERS, layer);
      int before = key.lastIndexOf('@', at - 1);
      hex = key.substring(before + 1, at);
      at = before;
    }
    if (at < 0 || hex.length() < MIN_DIGEST_DIGITS || !KeyText.isHex(hex)) {
      return null;
    }
    int start = readLabels(key, at, labels);
    if (start < 0 || !labels.part.containsKey(ShardDimension.TP)) {
      return null;
    } else if (!KeyText.namesModel(key.substring(0, start), model)) {
      return ObjectKey.OTHER_MODEL;
    } else if (!labels.indexed) {
      return ObjectKey.OTHER_GROUP;
    }
    long hash = KeyText.lastBytes(hex);
    ObjectKey read = labels.shared ? ObjectKey.whole(hash) : ObjectKey.part(hash, labels.part);
    return read.withGroup(labels.group);
  }

  /** Reads labels leftwards; the end of what comes before them, negative if nothing does. */
  private static int readLabels(String key, int end, Labels labels) {
    int to = end;
    while (to > 0) {
      int from = key.lastIndexOf('@', to - 1);
      if (!readLabel(key.substring(from + 1, to), labels)) {
        return to;
      }
      to = from;
    }
    return to;
  }

  private static boolean readLabel(String label, Labels labels) {
    int colon = label.indexOf(':');
    if (colon < 0) {
      return label.startsWith("pcp") && put(labels, ShardDimension.PCP, label.substring(3))
          || label.startsWith("dcp") && put(labels, ShardDimension.DCP, label.substring(3));
    }
    String value = label.substring(colon + 1);
    switch (label.substring(0, colon)) {
      case "tp_rank", "head_or_tp_rank" -> {
        return put(labels, ShardDimension.TP, value);
      }
      case "pcp" -> {
        return put(labels, ShardDimension.PCP, value);
      }
      case "dcp" -> {
        return put(labels, ShardDimension.DCP, value);
      }
      case "pp_rank" -> {
        return put(labels, ShardDimension.PP, value);
      }
      case "layer_id" -> {
        return put(labels, ShardDimension.LAYERS, value);
      }
      case "group" -> {
        labels.group = KeyText.number(value);
        labels.indexed &= labels.group != null;
      }
      case "cache_role" -> labels.indexed &= value.equals("kv");
      case "cache_family" -> labels.indexed &= value.equals("default");
      case "transfer", "range" -> labels.indexed = false;
      case "store_pp" -> labels.shared &= value.equals("1");
      case "store_format" -> labels.shared = value.equals("tp_shared_mqa");
      default -> {
        return false;
      }
    }
    return true;
  }

  private static boolean put(Labels labels, ShardDimension dimension, String rank) {
    Integer number = KeyText.number(rank);
    if (number != null) {
      labels.part.put(dimension, number);
    }
    return number != null;
  }
}
