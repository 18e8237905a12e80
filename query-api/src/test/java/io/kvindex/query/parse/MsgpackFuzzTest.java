// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.packed.Packed;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.Value;

/** Our reader against one written with msgpack-core: the same value or the same refusal. */
class MsgpackFuzzTest {
  private static final int BODIES = 200_000;
  private static final int MAX_ITEMS = 24;
  private static final String NO_ORACLE = "no oracle";
  private static final Set<String> COMMON =
      Set.of("model", "block_size", "tenant_id", "lora_name", "cache_salt", "instance_id");
  private static final Set<String> TEXTS =
      Set.of("model", "tenant_id", "lora_name", "cache_salt", "instance_id");

  @Test
  void shouldGiveSameValueOrRefusal_whenBodiesAreGeneratedAndMutated() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    QueryBodyParser parser = new QueryBodyParser(MAX_ITEMS);
    int accepted = 0;
    int broken = 0;
    int refused = 0;
    for (int i = 0; i < BODIES; i++) {
      QueryForm form = random.nextBoolean() ? QueryForm.TOKENS : QueryForm.HASHES;
      byte[] packed = mutated(random, generated(random, form));
      String expected = overflows(packed) ? NO_ORACLE : byLibrary(packed, form);
      if (expected.equals(NO_ORACLE)) {
        continue;
      }
      byte[] buffer = Arrays.copyOf(packed, packed.length + random.nextInt(80));

      Arrays.fill(buffer, packed.length, buffer.length, (byte) random.nextInt());
      assertThat(byReader(parser, buffer, packed.length, form))
          .as("body %s", Arrays.toString(packed))
          .isEqualTo(expected);
      accepted += expected.startsWith("refused") ? 0 : 1;
      broken += expected.startsWith("refused INVALID_MSGPACK") ? 1 : 0;
      refused++;
    }
    System.out.printf("accepted %d, broken %d of %d%n", accepted, broken, refused);
    assertThat(accepted).isGreaterThan(BODIES / 6);
    assertThat(broken).isGreaterThan(BODIES / 20);
    assertThat(refused - accepted - broken).isGreaterThan(BODIES / 10);
  }

  private static byte[] generated(Random random, QueryForm form) {
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    members.put("model", "m" + random.nextInt(3));
    members.put("block_size", 1 + random.nextInt(1 << random.nextInt(1, 21)));
    String[] names = {"tenant_id", "lora_name", "cache_salt", "instance_id"};
    for (String name : names) {
      if (random.nextInt(3) == 0) {
        members.put(name, random.nextInt(8) == 0 ? "" : "t\u00e9xt".repeat(random.nextInt(12)));
      }
    }
    if (random.nextInt(20) == 0) {
      members.put("cache_salt", null);
    }
    String[] odd = {"lora_id", "token_ids", "seq_hashes", "block_size"};
    if (random.nextInt(12) == 0) {
      members.put(odd[random.nextInt(odd.length)], oddValue(random));
    }
    members.put(form == QueryForm.TOKENS ? "token_ids" : "seq_hashes", items(random, form));
    return Packed.of(members);
  }

  private static @Nullable Object oddValue(Random random) {
    Object[] values = {null, -1, 1.5, true, "x", new byte[5], Map.of("a", 1), new int[] {1}};
    return values[random.nextInt(values.length)];
  }

  private static Object items(Random random, QueryForm form) {
    int count = random.nextInt(MAX_ITEMS + (random.nextInt(20) == 0 ? 3 : 1));
    if (random.nextInt(4) == 0) {
      int each = form == QueryForm.TOKENS ? 4 : 8;
      byte[] bytes = new byte[count * each + (random.nextInt(20) == 0 ? 1 : 0)];
      random.nextBytes(bytes);
      return bytes;
    }
    Object[] values = new Object[count];
    int wide = form == QueryForm.TOKENS ? 33 : 0;
    for (int i = 0; i < count; i++) {
      long value = random.nextLong() >>> wide >>> random.nextInt(64 - wide);
      values[i] = random.nextInt(12) == 0 ? -value : value;
    }
    if (count > 0 && random.nextInt(30) == 0) {
      values[random.nextInt(count)] = random.nextBoolean() ? (Object) "7" : 1L << 31;
    }
    return Arrays.asList(values);
  }

  private static byte[] mutated(Random random, byte[] packed) {
    byte[] bytes = packed;
    for (int n = Math.max(0, random.nextInt(5) - 2); n > 0 && bytes.length > 0; n--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(4)) {
        case 0 -> bytes[at] = (byte) random.nextInt();
        case 1 -> bytes = Arrays.copyOf(bytes, random.nextInt(4) == 0 ? at : bytes.length + 1);
        case 2 -> bytes[at] = (byte) (0xC0 + random.nextInt(0x20));
        default -> bytes[at]++;
      }
    }
    return bytes;
  }

  private static String byReader(
      QueryBodyParser parser, byte[] buffer, int length, QueryForm form) {
    QueryBody body = new QueryBody();
    try {
      parser.parse(BodyType.MSGPACK, buffer, length, form, null, body);
      return QueryBodyEquivalenceTest.describe(body, form);
    } catch (ApiException e) {
      return "refused " + e.code() + " " + e.field() + " " + e.index();
    }
  }

  /** The library's skipping overflows with maps of 2^30 members and more. */
  private static boolean overflows(byte[] packed) {
    for (int i = 1; i < packed.length; i++) {
      if (packed[i - 1] == (byte) 0xDF && (packed[i] & 0xFF) >= 0x40) {
        return true;
      }
    }
    return false;
  }

  private static String byLibrary(byte[] packed, QueryForm form) {
    try (MessageUnpacker whole = MessagePack.newDefaultUnpacker(packed);
        MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(packed)) {
      whole.skipValue(); // broken anywhere: nothing else matters
      try {
        return new Model(form).read(unpacker);
      } catch (MessagePackException e) {
        return NO_ORACLE; // the library looks into extensions of type -1
      }
    } catch (IOException | MessagePackException e) {
      return refused(ErrorCode.INVALID_MSGPACK, null, -1);
    }
  }

  private static String refused(ErrorCode code, @Nullable String field, int index) {
    return "refused " + code + " " + field + " " + index;
  }

  /** What a body means, member by member in the order they came. */
  private static final class Model {
    private final QueryForm form;
    private final Map<String, Object> found = new LinkedHashMap<>();

    Model(QueryForm form) {
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

    private String itemsName() {
      return form == QueryForm.TOKENS ? "token_ids" : "seq_hashes";
    }

    private @Nullable String take(String name, Value value) {
      if (name.equals(itemsName())) {
        return items(name, value);
      } else if (!COMMON.contains(name)) {
        return refused(ErrorCode.UNKNOWN_FIELD, ApiException.echo(name), -1);
      } else if (TEXTS.contains(name)) {
        boolean none = name.equals("cache_salt") && value.isNilValue();
        if (!value.isStringValue() && !none) {
          return refused(ErrorCode.INVALID_TYPE, name, -1);
        }
        found.put(name, none ? "" : text(value));
        return null;
      } else if (!value.isIntegerValue()) {
        return refused(ErrorCode.INVALID_TYPE, name, -1);
      }
      boolean ok = value.asIntegerValue().isInIntRange();
      int size = ok ? value.asIntegerValue().toInt() : 0;
      found.put(name, size);
      return size >= 1 && size <= 1 << 20 ? null : refused(ErrorCode.OUT_OF_RANGE, name, -1);
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
      } else if (value.asArrayValue().size() <= MAX_ITEMS) {
        return elements(name, value);
      } else {
        found.put(name, new long[value.asArrayValue().size()]);
      }
      boolean many = ((long[]) found.get(name)).length > MAX_ITEMS;
      return many ? refused(ErrorCode.TOO_MANY_ITEMS, name, MAX_ITEMS) : null;
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
          instance.isEmpty() ? "null" : instance,
          Arrays.toString((long[]) found.get(itemsName())));
    }
  }
}
