// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.error.ApiException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HashProfileFieldTest {

  private static HashProfile read(String member) {
    return HashProfileField.read(
        BodyFields.parse(("{" + member + "}").getBytes(StandardCharsets.UTF_8)),
        HashProfile.xxh3(7));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "'x':1 ~ xxh3:7",
        "'hash_profile':null ~ xxh3:7",
        "'hash_profile':'xxh3' ~ xxh3:7",
        "'hash_profile':'XXH3_Dynamo' ~ xxh3_dynamo:7",
        "'hash_profile':'vllm_sha256_cbor' ~ vllm_sha256_cbor:vllm-none-hash",
        "'hash_profile':'vllm_sha256' ~ vllm_sha256:vllm-none-hash",
        "'hash_profile':'sglang_sha256' ~ sglang_sha256",
        "'hash_profile':{'algorithm':'xxh3'} ~ xxh3:7",
        "'hash_profile':{'algorithm':'xxh3','seed':18446744073709551615} ~ xxh3:18446744073709551615",
        "'hash_profile':{'algorithm':'xxh3_dynamo','seed':'1337'} ~ xxh3_dynamo:1337",
        "'hash_profile':{'algorithm':'vllm_sha256','seed':'00'} ~ vllm_sha256:00",
        "'hash_profile':{'algorithm':'vllm_sha256','seed':0} ~ vllm_sha256:0",
        "'hash_profile':{'algorithm':'sglang_sha256','seed':'bigram'} ~ sglang_sha256:bigram",
        "'hash_profile':{'algorithm':'sglang_sha256','seed':null} ~ sglang_sha256",
        "'hash_profile':{'strategy':'vllm_v1','algorithm':'sha256_cbor','python_hash_seed':'00','index_projection':'low64_be'} ~ vllm_sha256_cbor:00",
        "'hash_profile':{'strategy':'vllm_v1','algorithm':'sha256','python_hash_seed':'random','index_projection':'low64_be'} ~ vllm_sha256:random",
        "'hash_profile':{'strategy':'vllm_v1','algorithm':'sha256','python_hash_seed':'4294967295','index_projection':'low64_be'} ~ vllm_sha256:4294967295",
        "'hash_profile':{'strategy':'sglang','algorithm':'sha256_raw','index_projection':'first64_be'} ~ sglang_sha256",
        "'hash_profile':{'strategy':'sglang','algorithm':'sha256_raw','python_hash_seed':'0','index_projection':'first64_be'} ~ sglang_sha256",
        "'hash_profile':{'strategy':'sglang_bigram','algorithm':'sha256_raw','index_projection':'first64_be'} ~ sglang_sha256:bigram",
      })
  void shouldNameRuleAndSeed_whenAnyFormIsUsed(String member, String label) {
    assertThat(read(member.replace('\'', '"')).label()).isEqualTo(label);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "'hash_profile':7 ~ invalid_type ~ a name or an object",
        "'hash_profile':'sha256_cbor' ~ unsupported ~ vllm_sha256_cbor",
        "'hash_profile':{'seed':'1'} ~ missing ~ hash_profile.algorithm",
        "'hash_profile':{'algorithm':5} ~ invalid_type ~ hash_profile.algorithm",
        "'hash_profile':{'algorithm':'xxh3','sed':1} ~ unknown_field ~ `sed`",
        "'hash_profile':{'algorithm':'xxh3','seed':1.5} ~ invalid_type ~ hash_profile.seed",
        "'hash_profile':{'algorithm':'xxh3','seed':'x'} ~ invalid_value ~ 64-bit",
        "'hash_profile':{'algorithm':'vllm_sha256','seed':''} ~ invalid_value ~ PYTHONHASHSEED",
        "'hash_profile':{'algorithm':'sglang_sha256','seed':'0'} ~ invalid_value ~ bigram",
        "'hash_profile':{'strategy':'vllm_v1','algorithm':'sha256','python_hash_seed':'1'} ~ missing ~ index_projection",
        "'hash_profile':{'strategy':'v2','algorithm':'sha256','python_hash_seed':'1','index_projection':'low64_be'} ~ invalid_value ~ vllm_v1",
        "'hash_profile':{'strategy':'vllm_v1','algorithm':'xxhash','python_hash_seed':'1','index_projection':'low64_be'} ~ invalid_value ~ sha256_cbor or sha256",
        "'hash_profile':{'strategy':'vllm_v1','algorithm':'sha256','python_hash_seed':1,'index_projection':'low64_be'} ~ invalid_type ~ python_hash_seed",
        "'hash_profile':{'strategy':'vllm_v1','algorithm':'sha256','python_hash_seed':'4294967296','index_projection':'low64_be'} ~ invalid_value ~ 4294967295",
        "'hash_profile':{'strategy':'vllm_v1','algorithm':'sha256','python_hash_seed':'-1','index_projection':'low64_be'} ~ invalid_value ~ python_hash_seed",
        "'hash_profile':{'strategy':'vllm_v1','algorithm':'sha256','python_hash_seed':'1','index_projection':'high64'} ~ invalid_value ~ low64_be",
        "'hash_profile':{'strategy':'vllm_v1','algorithm':'sha256','python_hash_seed':'1','index_projection':'low64_be','root_digest':'ab'} ~ unknown_field ~ root_digest",
        "'hash_profile':{'strategy':'vllm_v1','algorithm':'sha256','seed':'1','index_projection':'low64_be'} ~ unknown_field ~ `seed`",
        "'hash_profile':{'strategy':'sglang','algorithm':'sha256','index_projection':'first64_be'} ~ invalid_value ~ sha256_raw",
        "'hash_profile':{'strategy':'sglang_bigram','algorithm':'sha256_raw','index_projection':'low64_be'} ~ invalid_value ~ first64_be",
        "'hash_profile':{'strategy':'sglang','algorithm':'sha256_raw','index_projection':'first64_be','python_hash_seed':0} ~ invalid_type ~ python_hash_seed",
        "'hash_profile':{'strategy':'sglang','index_projection':'first64_be'} ~ missing ~ algorithm",
      })
  void shouldSayWhatIsWrong_whenItIsNoProfile(String member, String reason, String text) {
    ApiException refused =
        catchThrowableOfType(ApiException.class, () -> read(member.replace('\'', '"')));
    assertThat(refused.code().reason()).isEqualTo(reason);
    assertThat(refused.getMessage()).contains(text);
    assertThat(refused.field()).isEqualTo("hash_profile");
  }
}
