// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kvindex.model.SourceType;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.packed.Packed;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Source: Mooncake Conductor, C++ server, fields of {@code POST /register}, {@code /unregister}.
 */
class BinaryFieldsTest {

  /** Stands for a member that is left out. */
  private static final Object ABSENT = new Object();

  static Map<String, @Nullable Object> profile() {
    return Packed.members(
        "strategy", "vllm_v1",
        "algorithm", "sha256_cbor",
        "python_hash_seed", "00",
        "index_projection", "low64_be");
  }

  static Map<String, @Nullable Object> whole(String instance) {
    return Packed.members(
        "endpoint",
        "tcp://10.0.0.1:5557",
        "type",
        "vLLM",
        "modelname",
        "m",
        "instance_id",
        instance,
        "block_size",
        16,
        "dp_rank",
        0,
        "hash_profile",
        profile());
  }

  private static byte[] body(Map<String, @Nullable Object> members, @Nullable Object... changes) {
    Map<String, @Nullable Object> changed = new HashMap<>(members);
    changed.putAll(Packed.members(changes));
    changed.values().removeIf(value -> value == ABSENT);
    return Packed.of(changed);
  }

  private static Registration read(byte[] body) {
    return RegisterRequest.parse(BinaryFields.ofRegister(body), HashProfile.XXH3_DEFAULT)
        .registration();
  }

  @Test
  void shouldReadEveryField_whenAllAreThere() {
    Registration read =
        read(
            body(
                whole("e0"),
                "type",
                "Mooncake",
                "tenant_id",
                "acme",
                "lora_name",
                "sql",
                "replay_endpoint",
                "tcp://10.0.0.1:5558",
                "dp_rank",
                Integer.MAX_VALUE,
                "cache_group",
                0));
    assertThat(read.publisher().displayName()).isEqualTo("e0|acme|2147483647");
    assertThat(read.type()).isEqualTo(SourceType.MOONCAKE);
    assertThat(read.loraNames()).containsExactly("sql");
    assertThat(read.replayEndpoint()).isEqualTo("tcp://10.0.0.1:5558");
    assertThat(read.table().hashProfile())
        .isEqualTo(new HashProfile(Algorithm.VLLM_SHA256_CBOR, "00"));
  }

  @Test
  void shouldUseDefaults_whenOptionalFieldsAreAbsentOrEmpty() {
    for (Object none : new Object[] {ABSENT, ""}) {
      Registration read =
          read(body(whole("e0"), "tenant_id", none, "lora_name", none, "replay_endpoint", none));
      assertThat(read.publisher().tenantId()).isEqualTo("default");
      assertThat(read.loraNames()).containsExactly("");
      assertThat(read.replayEndpoint()).isNull();
    }
    assertThat(read(body(whole("e0"), "cache_group", null)).publisher().dpRank()).isZero();
  }

  @Test
  void shouldTakeTheFirstOne_whenAFieldIsRepeated() {
    byte[] body =
        Packed.map(
            "endpoint",
            "tcp://10.0.0.1:5557",
            "type",
            "vLLM",
            "modelname",
            "m",
            "instance_id",
            "first",
            "block_size",
            16,
            "dp_rank",
            0,
            "hash_profile",
            profile(),
            "instance_id",
            "second");
    assertThat(read(body).publisher().instanceId()).isEqualTo("first");
  }

  /** What its own clients and files name since Mooncake #3744. */
  @Test
  void shouldTakeSglangsProfiles_whenTheyHaveNoSeed() {
    byte[] body =
        body(
            whole("e0"),
            "type",
            "SGLang",
            "hash_profile",
            Packed.members(
                "strategy", "sglang_bigram",
                "algorithm", "sha256_raw",
                "index_projection", "first64_be"));
    assertThat(read(body).type()).isEqualTo(SourceType.SGLANG);
    assertThat(read(body).table().hashProfile().label()).isEqualTo("sglang_sha256:bigram");
  }

  static Stream<Arguments> refusals() {
    Map<String, @Nullable Object> digest = profile();
    digest.put("root_digest", "ab");
    return Stream.of(
        refusal("missing endpoint", "endpoint", ABSENT),
        refusal("invalid_value endpoint", "endpoint", ""),
        refusal("invalid_value endpoint", "endpoint", "bogus"),
        refusal("invalid_type endpoint", "endpoint", null),
        refusal("missing type", "type", ABSENT),
        refusal("invalid_value type", "type", "sglang"),
        refusal("invalid_value type", "type", "TensorRT-LLM"),
        refusal("invalid_value type", "type", "vllm"),
        refusal("missing modelname", "modelname", ABSENT),
        refusal("invalid_value modelname", "modelname", ""),
        refusal("invalid_type modelname", "modelname", 7),
        refusal("missing instance_id", "instance_id", ABSENT),
        refusal("invalid_value instance_id", "instance_id", ""),
        refusal("missing block_size", "block_size", ABSENT),
        refusal("out_of_range block_size", "block_size", 0),
        refusal("out_of_range block_size", "block_size", 1L << 40),
        refusal("invalid_type block_size", "block_size", 16.0),
        refusal("missing dp_rank", "dp_rank", ABSENT),
        refusal("out_of_range dp_rank", "dp_rank", -1),
        refusal("out_of_range dp_rank", "dp_rank", 1L << 31),
        refusal("invalid_type tenant_id", "tenant_id", null),
        refusal("invalid_type lora_name", "lora_name", null),
        refusal("invalid_type replay_endpoint", "replay_endpoint", null),
        refusal("unknown_field additionalsalt", "additionalsalt", "w8a8"),
        refusal("unknown_field replace", "replace", true),
        refusal("unsupported cache_group", "cache_group", 1),
        refusal("invalid_type cache_group", "cache_group", "0"),
        refusal("missing hash_profile", "hash_profile", ABSENT),
        refusal("invalid_type hash_profile", "hash_profile", "xxh3"),
        refusal("unknown_field hash_profile", "hash_profile", digest),
        profileRefusal("missing", "strategy", ABSENT),
        profileRefusal("invalid_value", "strategy", "vllm_v2"),
        profileRefusal("invalid_value", "algorithm", "xxh3"),
        profileRefusal("invalid_value", "python_hash_seed", "4294967296"),
        profileRefusal("invalid_value", "python_hash_seed", "-1"),
        profileRefusal("invalid_type", "python_hash_seed", 0),
        profileRefusal("invalid_value", "index_projection", "high64"));
  }

  private static Arguments refusal(String expected, String field, @Nullable Object value) {
    return Arguments.of(expected, body(whole("e0"), field, value));
  }

  private static Arguments profileRefusal(String reason, String member, @Nullable Object value) {
    Map<String, @Nullable Object> profile = profile();
    profile.put(member, value);
    profile.values().removeIf(one -> one == ABSENT);
    return refusal(reason + " hash_profile", "hash_profile", profile);
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void shouldRefuse_whenAFieldIsWrong(String expected, byte[] body) {
    ApiException refusal = catchThrowableOfType(ApiException.class, () -> read(body));
    assertThat(refusal.code().reason() + " " + refusal.field()).isEqualTo(expected);
    assertThat(refusal.code().status(Dialect.BINARY)).isEqualTo(400);
  }

  @Test
  void shouldSayInvalidMsgpack_whenTheBodyIsNoMap() {
    byte[] whole = body(whole("e0"));
    byte[] deep = new byte[64];
    Arrays.fill(deep, (byte) 0x91);
    deep[63] = 1;
    byte[] nested = Packed.map("tenant_id", List.of());
    nested = Arrays.copyOf(nested, nested.length - 1 + deep.length);
    System.arraycopy(deep, 0, nested, nested.length - deep.length, deep.length);
    byte[][] bodies = {
      {}, Packed.of(List.of()), Arrays.copyOf(whole, whole.length - 1), Packed.map(1, 2), nested
    };
    for (byte[] body : bodies) {
      ApiException refusal = catchThrowableOfType(ApiException.class, () -> read(body));
      assertThat(refusal.code().reason()).isEqualTo("invalid_msgpack");
    }
  }

  @Test
  void shouldRefuseTheDocumentedBody_whenUnregistering() {
    for (String field : List.of("type", "modelname", "lora_name", "block_size")) {
      byte[] body = Packed.map("instance_id", "e0", "dp_rank", 0, field, "x");
      ApiException refusal =
          catchThrowableOfType(ApiException.class, () -> BinaryFields.ofUnregister(body));
      assertThat(refusal.code().reason() + " " + refusal.field())
          .isEqualTo("unknown_field " + field);
    }
    ApiException refusal =
        catchThrowableOfType(
            ApiException.class, () -> BinaryFields.ofUnregister(Packed.map("instance_id", "e0")));
    assertThat(refusal.code().reason() + " " + refusal.field()).isEqualTo("missing dp_rank");
  }
}
