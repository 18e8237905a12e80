// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.packed.Packed;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Source: Mooncake Conductor, C++ server, {@code POST /query}, fields and cases. */
class MsgpackBodyReaderTest {
  private static final int MAX_ITEMS = 8;

  private final MsgpackBodyReader reader = new MsgpackBodyReader(MAX_ITEMS);
  private final QueryBody body = new QueryBody();

  @Test
  void shouldReadEveryField_whenAllAreThere() {
    read(
        QueryForm.TOKENS,
        Packed.map(
            "model",
            "m",
            "block_size",
            16,
            "token_ids",
            List.of(1, 70_000, -1, 200, 65_535, 128),
            "tenant_id",
            "acme",
            "lora_name",
            "sql",
            "cache_salt",
            "s",
            "instance_id",
            "e0"));
    assertThat(body.dialect()).isEqualTo(Dialect.BINARY);
    assertThat(JsonFuzzTest.describe(body, QueryForm.TOKENS))
        .isEqualTo("m|16|acme|sql|-1|s|e0|[1, 70000, -1, 200, 65535, 128]");
  }

  @Test
  void shouldUseDefaults_whenOptionalFieldsAreAbsentOrEmpty() {
    read(QueryForm.TOKENS, query("token_ids", List.of()));
    assertThat(JsonFuzzTest.describe(body, QueryForm.TOKENS))
        .isEqualTo("m|16|default||-1||null|[]");
    read(
        QueryForm.TOKENS,
        query(
            "token_ids",
            List.of(),
            "tenant_id",
            "",
            "lora_name",
            "",
            "cache_salt",
            null,
            "instance_id",
            ""));
    assertThat(JsonFuzzTest.describe(body, QueryForm.TOKENS))
        .isEqualTo("m|16|default||-1||null|[]");
  }

  @Test
  void shouldReadTheSame_whenItemsAreBytes() {
    ByteBuffer tokens = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
    tokens.putInt(7).putInt(Integer.MAX_VALUE).putInt(-2);
    read(QueryForm.TOKENS, query("token_ids", tokens.array()));
    assertThat(Arrays.copyOf(body.tokens(), body.count()))
        .containsExactly(7, Integer.MAX_VALUE, -2);
    ByteBuffer hashes = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    hashes.putLong(7).putLong(-2);
    read(QueryForm.HASHES, query("seq_hashes", hashes.array()));
    assertThat(Arrays.copyOf(body.hashes(), body.count())).containsExactly(7, -2);
  }

  @Test
  void shouldTakeBits_whenHashesAreSignedOrUnsigned() {
    BigInteger large = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.TWO);
    read(QueryForm.HASHES, query("seq_hashes", List.of(large, -2L, 5, Long.MIN_VALUE)));
    assertThat(Arrays.copyOf(body.hashes(), body.count()))
        .containsExactly(-2, -2, 5, Long.MIN_VALUE);
  }

  @Test
  void shouldTakeTheLastOne_whenAFieldIsRepeated() {
    read(
        QueryForm.TOKENS,
        query("token_ids", List.of(1, 2, 3), "token_ids", List.of(9), "model", "n"));
    assertThat(JsonFuzzTest.describe(body, QueryForm.TOKENS))
        .isEqualTo("n|16|default||-1||null|[9]");
  }

  @Test
  void shouldNotLook_whenBytesFollowTheMap() {
    byte[] map = query("token_ids", List.of(1));
    byte[] longer = Arrays.copyOf(map, map.length + 3);
    Arrays.fill(longer, map.length, longer.length, (byte) 0xC1);
    read(QueryForm.TOKENS, longer);
    assertThat(body.count()).isEqualTo(1);
  }

  @Test
  void shouldReadAsInJson_whenThereIsAnEventToWaitFor() {
    read(QueryForm.TOKENS, waitingFor("event_id", 41, "instance_id", "i", "dp_rank", 2));
    assertThat(body.minEvent()).isEqualTo(new MinEvent("i", 2, 41));
    read(QueryForm.TOKENS, waitingFor("instance_id", "i", "event_id", 0));
    assertThat(body.minEvent()).isEqualTo(new MinEvent("i", 0, 0));
    read(QueryForm.TOKENS, waitingFor("instance_id", 7, "event_id", Long.MAX_VALUE));
    assertThat(body.minEvent()).isEqualTo(new MinEvent("7", 0, Long.MAX_VALUE));
    BigInteger last = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.ONE);
    read(QueryForm.TOKENS, waitingFor("event_id", last, "instance_id", "i"));
    assertThat(body.minEvent()).isEqualTo(new MinEvent("i", 0, -1));
    read(QueryForm.TOKENS, query("token_ids", List.of()));
    assertThat(body.minEvent()).isNull();
  }

  /** Two texts of other bytes that the same characters would stand for. */
  @Test
  void shouldRefuse_whenATextIsNoUtf8() {
    byte[] whole = query("token_ids", List.of(), "cache_salt", "\ufffd");
    read(QueryForm.TOKENS, whole);
    assertThat(body.cacheSalt()).isEqualTo("\ufffd");
    byte[] broken = whole.clone();
    broken[whole.length - 1] = (byte) 0xFF;
    assertThat(
            describe(
                catchThrowableOfType(ApiException.class, () -> read(QueryForm.TOKENS, broken))))
        .isEqualTo("invalid_value cache_salt");
  }

  private static byte[] waitingFor(@Nullable Object... event) {
    return query("token_ids", List.of(), "min_event", Packed.members(event));
  }

  static Stream<Arguments> eventRefusals() {
    BigInteger far = BigInteger.ONE.shiftLeft(63);
    return Stream.of(
        refusal("invalid_type min_event", query("token_ids", List.of(), "min_event", null)),
        refusal("invalid_type min_event", query("token_ids", List.of(), "min_event", "i:0:1")),
        refusal("missing min_event.instance_id", waitingFor()),
        refusal("missing min_event.instance_id", waitingFor("instance_id", "", "event_id", 1)),
        refusal("missing min_event.event_id", waitingFor("instance_id", "i")),
        refusal("unknown_field min_event.seq", waitingFor("instance_id", "i", "seq", 1)),
        refusal("invalid_type min_event.instance_id", waitingFor("instance_id", null)),
        refusal("invalid_type min_event.instance_id", waitingFor("instance_id", 1.5)),
        refusal("invalid_type min_event.event_id", waitingFor("event_id", "1")),
        refusal("invalid_type min_event.event_id", waitingFor("event_id", 1.0)),
        refusal("out_of_range min_event.event_id", waitingFor("event_id", -1)),
        refusal("out_of_range min_event.event_id", waitingFor("event_id", Long.MIN_VALUE)),
        refusal("missing min_event.instance_id", waitingFor("event_id", far)),
        refusal("out_of_range min_event.dp_rank", waitingFor("dp_rank", far)),
        refusal("out_of_range min_event.dp_rank", waitingFor("dp_rank", 1L << 31)),
        refusal("out_of_range min_event.dp_rank", waitingFor("dp_rank", -1)),
        refusal("invalid_type min_event.dp_rank", waitingFor("dp_rank", null)));
  }

  static Stream<Arguments> refusals() {
    List<Object> tooMany = new ArrayList<>();
    for (int i = 0; i <= MAX_ITEMS; i++) {
      tooMany.add(i);
    }
    BigInteger beyond = BigInteger.ONE.shiftLeft(63);
    return Stream.of(
        refusal("unknown_field lora_id", query("token_ids", List.of(), "lora_id", -1)),
        refusal("unknown_field modelname", query("token_ids", List.of(), "modelname", "m")),
        refusal("unknown_field seq_hashes", query("token_ids", List.of(), "seq_hashes", List.of())),
        refusal("missing token_ids", query()),
        refusal("missing model", Packed.map("block_size", 16, "token_ids", List.of())),
        refusal("missing block_size", Packed.map("model", "m", "token_ids", List.of())),
        refusal("invalid_type token_ids", query("token_ids", null)),
        refusal("invalid_type token_ids", query("token_ids", "1,2")),
        refusal("invalid_type token_ids", query("token_ids", Packed.members("0", 1))),
        refusal("invalid_type token_ids 1", query("token_ids", List.of(1, "2"))),
        refusal("invalid_type token_ids 0", query("token_ids", List.of(1.0))),
        refusal("invalid_type token_ids 2", query("token_ids", Arrays.asList(1, 2, null))),
        refusal("invalid_type token_ids 0", query("token_ids", List.of(List.of(1)))),
        refusal("out_of_range token_ids 1", query("token_ids", List.of(0, 1L << 31))),
        refusal("out_of_range token_ids 0", query("token_ids", List.of((1L << 32) - 1))),
        refusal("out_of_range token_ids 0", query("token_ids", List.of(1L << 32))),
        refusal("out_of_range token_ids 0", query("token_ids", List.of(-(1L << 31) - 1))),
        refusal("out_of_range token_ids 0", query("token_ids", List.of(beyond))),
        refusal("invalid_value token_ids", query("token_ids", new byte[7])),
        refusal("too_many_items token_ids 8", query("token_ids", tooMany)),
        refusal("too_many_items token_ids 8", query("token_ids", new byte[36])),
        refusal("invalid_type model", query("token_ids", List.of(), "model", null)),
        refusal("invalid_type model", query("token_ids", List.of(), "model", new byte[1])),
        refusal("invalid_value model", query("token_ids", List.of(), "model", "")),
        refusal("invalid_type tenant_id", query("token_ids", List.of(), "tenant_id", null)),
        refusal("invalid_type lora_name", query("token_ids", List.of(), "lora_name", null)),
        refusal("invalid_type instance_id", query("token_ids", List.of(), "instance_id", null)),
        refusal("invalid_type cache_salt", query("token_ids", List.of(), "cache_salt", 7)),
        refusal("invalid_type block_size", query("token_ids", List.of(), "block_size", 16.0)),
        refusal("invalid_type block_size", query("token_ids", List.of(), "block_size", null)),
        refusal("out_of_range block_size", query("token_ids", List.of(), "block_size", 0)),
        refusal("out_of_range block_size", query("token_ids", List.of(), "block_size", -16)),
        refusal("out_of_range block_size", query("token_ids", List.of(), "block_size", 1 << 21)),
        refusal("out_of_range block_size", query("token_ids", List.of(), "block_size", beyond)),
        refusal("invalid_msgpack", new byte[0]),
        refusal("invalid_msgpack", new byte[] {(byte) 0xC1}),
        refusal("invalid_msgpack", Packed.of(List.of("model", "m"))),
        refusal("invalid_msgpack", Packed.of(7)),
        refusal("invalid_msgpack", Packed.map(1, 2)),
        refusal("invalid_msgpack", "{\"model\":\"m\"}".getBytes()),
        // A map of 2^32 - 1 members, a list of 2^31: nothing of that size is there.
        refusal("invalid_msgpack", new byte[] {(byte) 0xDF, -1, -1, -1, -1, 1}),
        refusal("invalid_msgpack", hugeArray()));
  }

  private static byte[] hugeArray() {
    byte[] head = query("token_ids", List.of());
    byte[] huge = Arrays.copyOf(head, head.length + 4);
    huge[head.length - 1] = (byte) 0xDD;
    huge[head.length] = 0x7F;
    return huge;
  }

  private static Arguments refusal(String expected, byte[] body) {
    return Arguments.of(expected, body);
  }

  @ParameterizedTest
  @MethodSource({"refusals", "eventRefusals"})
  void shouldRefuseWithReasonFieldAndIndex_whenABodyIsWrong(String expected, byte[] packed) {
    ApiException refusal =
        catchThrowableOfType(ApiException.class, () -> read(QueryForm.TOKENS, packed));
    assertThat(describe(refusal)).isEqualTo(expected);
    assertThat(body.dialect()).isEqualTo(Dialect.BINARY);
  }

  @Test
  void shouldRefuseForTheBrokenBody_whenAFieldIsWrongToo() {
    byte[] whole = query("color", 1, "token_ids", List.of(1, 2, 3));
    byte[] cut = Arrays.copyOf(whole, whole.length - 1);
    assertThat(
            describe(catchThrowableOfType(ApiException.class, () -> read(QueryForm.TOKENS, cut))))
        .isEqualTo("invalid_msgpack");
  }

  @Test
  void shouldRefuseEveryPrefix_whenABodyIsCutShort() {
    byte[] whole = query("tenant_id", "t", "token_ids", List.of(1, 200, 40_000, 70_000, -5));
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      ApiException refusal =
          catchThrowableOfType(ApiException.class, () -> read(QueryForm.TOKENS, cut));
      assertThat(describe(refusal)).as("cut at %d", length).isEqualTo("invalid_msgpack");
    }
  }

  @Test
  void shouldSayNotFound_whenTheRouteIsDynamosOnly() {
    ApiException refusal =
        catchThrowableOfType(
            ApiException.class, () -> read(QueryForm.TIERED, query("token_ids", List.of())));
    assertThat(describe(refusal)).isEqualTo("not_found");
  }

  private static String describe(ApiException refusal) {
    @Nullable String field = refusal.field();
    return refusal.code().reason()
        + (field == null ? "" : " " + field)
        + (refusal.index() == ErrorCode.NO_INDEX ? "" : " " + refusal.index());
  }

  private static byte[] query(@Nullable Object... more) {
    Object[] members = new Object[more.length + 4];
    System.arraycopy(new Object[] {"model", "m", "block_size", 16}, 0, members, 0, 4);
    System.arraycopy(more, 0, members, 4, more.length);
    return Packed.map(members);
  }

  private void read(QueryForm form, byte[] packed) {
    reader.read(packed, packed.length, form, body);
  }
}
