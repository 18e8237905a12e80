// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.ArrayValue;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

/** Decodes payloads the slow and obvious way, apart from all main code. */
final class WireReader {
  private WireReader() {}

  record Event(
      String kind,
      List<Long> hashes,
      @Nullable Long parent,
      List<Long> tokens,
      int blockSize,
      @Nullable String medium,
      @Nullable String loraName,
      @Nullable String extraKeys,
      @Nullable String cacheSalt) {}

  static Value unpack(byte[] payload) {
    try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(payload)) {
      Value value = unpacker.unpackValue();
      if (unpacker.hasNext()) {
        throw new IllegalArgumentException("trailing bytes");
      }
      return value;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<Event> read(byte[] payload) {
    ArrayValue batch = unpack(payload).asArrayValue();
    List<Event> events = new ArrayList<>();
    for (Value event : batch.get(1).asArrayValue()) {
      events.add(event.isMapValue() ? ofMap(event) : ofArray(event.asArrayValue()));
    }
    return events;
  }

  private static Event ofMap(Value event) {
    Map<Value, Value> fields = event.asMapValue().map();
    Value extra = field(fields, "extra_keys");
    return new Event(
        field(fields, "type").asStringValue().asString(),
        longs(field(fields, "block_hashes")),
        number(field(fields, "parent_block_hash")),
        longs(field(fields, "token_ids")),
        fields.containsKey(ValueFactory.newString("block_size"))
            ? field(fields, "block_size").asIntegerValue().asInt()
            : 0,
        text(field(fields, "medium")),
        text(field(fields, "lora_name")),
        extra.isNilValue() ? null : extra.toJson(),
        text(field(fields, "cache_salt")));
  }

  private static Event ofArray(ArrayValue event) {
    String kind = event.get(0).asStringValue().asString();
    if (!kind.equals("BlockStored")) {
      return new Event(
          kind, longs(at(event, 1)), null, List.of(), 0, text(at(event, 2)), null, null, null);
    }
    Value seventh = at(event, 7);
    boolean salted = seventh.isMapValue();
    return new Event(
        kind,
        longs(at(event, 1)),
        number(at(event, 2)),
        longs(at(event, 3)),
        at(event, 4).asIntegerValue().asInt(),
        text(at(event, 6)),
        salted ? null : text(seventh),
        at(event, 8).isNilValue() ? null : at(event, 8).toJson(),
        salted ? text(field(seventh.asMapValue().map(), "cache_salt")) : null);
  }

  private static Value at(ArrayValue array, int index) {
    return index < array.size() ? array.get(index) : ValueFactory.newNil();
  }

  private static Value field(Map<Value, Value> fields, String name) {
    return fields.getOrDefault(ValueFactory.newString(name), ValueFactory.newNil());
  }

  private static List<Long> longs(Value array) {
    List<Long> longs = new ArrayList<>();
    if (array.isArrayValue()) {
      array.asArrayValue().forEach(v -> longs.add(v.asIntegerValue().toBigInteger().longValue()));
    }
    return longs;
  }

  private static @Nullable Long number(Value value) {
    return value.isNilValue()
        ? null
        : Long.valueOf(value.asIntegerValue().toBigInteger().longValue());
  }

  private static @Nullable String text(Value value) {
    return value.isNilValue() ? null : value.asStringValue().asString();
  }
}
