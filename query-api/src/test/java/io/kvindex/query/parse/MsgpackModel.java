// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.error.ErrorCode;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.Value;

/** What a body means, member by member in the order they came. */
final class MsgpackModel {
  private static final Set<String> COMMON =
      Set.of(
          "model",
          "block_size",
          "tenant_id",
          "lora_name",
          "cache_salt",
          "instance_id",
          "min_event");
  private static final Set<String> TEXTS =
      Set.of("model", "tenant_id", "lora_name", "cache_salt", "instance_id");

  private final int maxItems;
  private final QueryForm form;
  private final Map<String, Object> found = new LinkedHashMap<>();

  MsgpackModel(QueryForm form, int maxItems) {
    this.maxItems = maxItems;
    this.form = form;
  }

  String read(MessageUnpacker unpacker) throws IOException {
    if (!unpacker.getNextFormat().getValueType().isMapType()) {
      return refused(ErrorCode.INVALID_MSGPACK, null, -1);
    }
    for (int left = unpacker.unpackMapHeader(); left > 0; left--) {
      if (!unpacker.getNextFormat().getValueType().isStringType()) {
        return refused(ErrorCode.INVALID_MSGPACK, null, -1);
      }
      String name = text(unpacker.unpackValue());
      String problem = take(name, unpacker.unpackValue());
      if (problem != null) {
        return problem;
      }
    }
    return whole();
  }

  /** Broken UTF-8 is replaced, where the library would throw. */
  private static String text(Value value) {
    return new String(value.asRawValue().asByteArray(), StandardCharsets.UTF_8);
  }

  private static boolean isBroken(Value value) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(value.asRawValue().asByteBuffer());
      return false;
    } catch (CharacterCodingException e) {
      return true;
    }
  }

  private String itemsName() {
    return form == QueryForm.TOKENS ? "token_ids" : "seq_hashes";
  }

  private @Nullable String take(String name, Value value) {
    if (name.equals(itemsName())) {
      return items(name, value);
    } else if (!COMMON.contains(name)) {
      return refused(ErrorCode.UNKNOWN_FIELD, ErrorCode.echo(name), -1);
    } else if (TEXTS.contains(name)) {
      boolean none = name.equals("cache_salt") && value.isNilValue();
      if (!value.isStringValue() && !none) {
        return refused(ErrorCode.INVALID_TYPE, name, -1);
      } else if (!none && isBroken(value)) {
        return refused(ErrorCode.INVALID_VALUE, name, -1);
      }
      found.put(name, none ? "" : text(value));
      return null;
    } else if (name.equals("min_event")) {
      return event(value);
    } else if (!value.isIntegerValue()) {
      return refused(ErrorCode.INVALID_TYPE, name, -1);
    }
    boolean ok = value.asIntegerValue().isInIntRange();
    int size = ok ? value.asIntegerValue().toInt() : 0;
    found.put(name, size);
    return size >= 1 && size <= 1 << 20 ? null : refused(ErrorCode.OUT_OF_RANGE, name, -1);
  }

  private @Nullable String event(Value value) {
    if (!value.isMapValue()) {
      return refused(ErrorCode.INVALID_TYPE, "min_event", -1);
    }
    String instance = "";
    @Nullable BigInteger event = null;
    long rank = 0;
    Value[] pairs = value.asMapValue().getKeyValueArray();
    for (int i = 0; i < pairs.length; i += 2) {
      if (!pairs[i].isStringValue()) {
        return refused(ErrorCode.INVALID_MSGPACK, null, -1);
      }
      String name = "min_event." + text(pairs[i]);
      Value one = pairs[i + 1];
      if (name.equals("min_event.instance_id")) {
        if (!one.isStringValue() && !one.isIntegerValue()) {
          return refused(ErrorCode.INVALID_TYPE, name, -1);
        } else if (one.isStringValue() && isBroken(one)) {
          return refused(ErrorCode.INVALID_VALUE, name, -1);
        }
        instance = one.isStringValue() ? text(one) : one.toString();
        continue;
      } else if (!name.equals("min_event.event_id") && !name.equals("min_event.dp_rank")) {
        return refused(ErrorCode.UNKNOWN_FIELD, ErrorCode.echo(name), -1);
      } else if (!one.isIntegerValue()) {
        return refused(ErrorCode.INVALID_TYPE, name, -1);
      }
      boolean ranks = name.endsWith("rank");
      BigInteger number = one.asIntegerValue().toBigInteger();
      if (number.signum() < 0 || number.bitLength() > (ranks ? 31 : 64)) {
        return refused(ErrorCode.OUT_OF_RANGE, name, -1);
      } else if (ranks) {
        rank = number.longValue();
      } else {
        event = number;
      }
    }
    if (instance.isEmpty() || event == null) {
      String missing = instance.isEmpty() ? "instance_id" : "event_id";
      return refused(ErrorCode.MISSING, "min_event." + missing, -1);
    }
    found.put("min_event", new MinEvent(instance, (int) rank, event.longValue()).toString());
    return null;
  }

  private @Nullable String items(String name, Value value) {
    int each = form == QueryForm.TOKENS ? 4 : 8;
    if (value.isBinaryValue()) {
      byte[] bytes = value.asBinaryValue().asByteArray();
      if (bytes.length % each != 0) {
        return refused(ErrorCode.INVALID_VALUE, name, -1);
      }
      var in = java.nio.ByteBuffer.wrap(bytes).order(java.nio.ByteOrder.LITTLE_ENDIAN);
      long[] items = new long[bytes.length / each];
      for (int i = 0; i < items.length; i++) {
        items[i] = each == 4 ? in.getInt() : in.getLong();
      }
      found.put(name, items);
    } else if (!value.isArrayValue()) {
      return refused(ErrorCode.INVALID_TYPE, name, -1);
    } else if (value.asArrayValue().size() <= maxItems) {
      return elements(name, value);
    } else {
      found.put(name, new long[value.asArrayValue().size()]);
    }
    boolean many = ((long[]) found.get(name)).length > maxItems;
    return many ? refused(ErrorCode.TOO_MANY_ITEMS, name, maxItems) : null;
  }

  private @Nullable String elements(String name, Value value) {
    long[] items = new long[value.asArrayValue().size()];
    for (int i = 0; i < items.length; i++) {
      Value one = value.asArrayValue().get(i);
      if (!one.isIntegerValue()) {
        return refused(ErrorCode.INVALID_TYPE, name, i);
      } else if (form == QueryForm.TOKENS && !one.asIntegerValue().isInIntRange()) {
        return refused(ErrorCode.OUT_OF_RANGE, name, i);
      }
      items[i] = one.asIntegerValue().toBigInteger().longValue();
    }
    found.put(name, items);
    return null;
  }

  private String whole() {
    for (String name : new String[] {"model", "block_size", itemsName()}) {
      if (!found.containsKey(name)) {
        return refused(ErrorCode.MISSING, name, -1);
      }
    }
    if ("".equals(found.get("model"))) {
      return refused(ErrorCode.INVALID_VALUE, "model", -1);
    }
    String tenant = (String) found.getOrDefault("tenant_id", "");
    String instance = (String) found.getOrDefault("instance_id", "");
    return String.join(
        "|",
        (String) found.get("model"),
        "" + found.get("block_size"),
        tenant.isEmpty() ? "default" : tenant,
        (String) found.getOrDefault("lora_name", ""),
        "-1",
        (String) found.getOrDefault("cache_salt", ""),
        (instance.isEmpty() ? "null" : instance) + found.getOrDefault("min_event", ""),
        Arrays.toString((long[]) found.get(itemsName())));
  }

  static String refused(ErrorCode code, @Nullable String field, int index) {
    return "refused " + code + " " + field + " " + index;
  }
}
