// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.packed.Packed;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;

/** Our reader against one written with msgpack-core: the same value or the same refusal. */
class MsgpackFuzzTest {
  private static final int MAX_ITEMS = 24;
  private static final String NO_ORACLE = "no oracle";

  @Test
  void shouldGiveSameValueOrRefusal_whenBodiesAreGeneratedAndMutated() {
    FuzzInputs fuzz = FuzzInputs.of(MsgpackFuzzTest.class, 30_000);
    Random random = fuzz.random;
    QueryBodyParser parser = new QueryBodyParser(MAX_ITEMS);
    QueryBody reused = new QueryBody();
    int accepted = 0;
    int broken = 0;
    int judged = 0;
    for (int i = 0; i < fuzz.count; i++) {
      QueryForm form = random.nextBoolean() ? QueryForm.TOKENS : QueryForm.HASHES;
      byte[] packed = mutated(random, generated(random, form));
      String expected = overflows(packed) ? NO_ORACLE : byLibrary(packed, form);
      if (expected.equals(NO_ORACLE)) {
        continue;
      }
      byte[] buffer = Arrays.copyOf(packed, packed.length + random.nextInt(80));

      Arrays.fill(buffer, packed.length, buffer.length, (byte) random.nextInt());
      assertThat(byReader(parser, buffer, packed.length, form, reused))
          .as("body %s", Arrays.toString(packed))
          .isEqualTo(expected);
      accepted += expected.startsWith("refused") ? 0 : 1;
      broken += expected.startsWith("refused INVALID_MSGPACK") ? 1 : 0;
      judged++;
    }
    assertThat(accepted).as("accepted of %d", judged).isGreaterThan(fuzz.count / 6);
    assertThat(broken).as("broken of %d", judged).isGreaterThan(fuzz.count / 20);
    assertThat(judged - accepted - broken)
        .as("otherwise refused of %d", judged)
        .isGreaterThan(fuzz.count / 10);
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
    if (random.nextInt(4) == 0) {
      members.put("min_event", event(random));
    }
    String[] odd = {"min_event", "lora_id", "token_ids", "seq_hashes", "block_size"};
    if (random.nextInt(12) == 0) {
      members.put(odd[random.nextInt(odd.length)], oddValue(random));
    }
    members.put(form == QueryForm.TOKENS ? "token_ids" : "seq_hashes", items(random, form));
    return Packed.of(members);
  }

  private static Object event(Random random) {
    Map<String, @Nullable Object> event = new LinkedHashMap<>();
    event.put("instance_id", random.nextInt(8) == 0 ? oddValue(random) : "t\u00e9");
    event.put("event_id", random.nextInt(8) == 0 ? oddValue(random) : unsigned(random));
    if (random.nextBoolean()) {
      event.put("dp_rank", random.nextInt(8) == 0 ? oddValue(random) : random.nextInt(9));
    }
    if (random.nextInt(8) == 0) {
      event.remove(random.nextBoolean() ? "instance_id" : "event_id");
    }
    return event;
  }

  private static BigInteger unsigned(Random random) {
    return new BigInteger(Long.toUnsignedString(random.nextLong()));
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
      QueryBodyParser parser, byte[] buffer, int length, QueryForm form, QueryBody body) {
    try {
      parser.parse(BodyType.MSGPACK, buffer, length, form, null, body);
      return JsonFuzzTest.describe(body, form);
    } catch (ApiException e) {
      return "refused " + e.code() + " " + e.field() + " " + e.index();
    }
  }

  /**
   * The library's skipping counts what is to come in an int, which overflows where nested arrays
   * and maps promise billions: it takes such a body for whole, and then allocates all of it.
   */
  private static boolean overflows(byte[] packed) {
    for (int i = 1; i < packed.length; i++) {
      boolean counts32 = packed[i - 1] == (byte) 0xDF || packed[i - 1] == (byte) 0xDD;
      if (counts32 && (packed[i] & 0xFF) >= 0x04) {
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
        return new MsgpackModel(form, MAX_ITEMS).read(unpacker);
      } catch (MessagePackException e) {
        return NO_ORACLE; // the library looks into extensions of type -1
      }
    } catch (IOException | MessagePackException e) {
      return MsgpackModel.refused(ErrorCode.INVALID_MSGPACK, null, -1);
    }
  }
}
