// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.parse.QueryBody.EventPlace;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueryBodyParserTest {
  private static final int MAX_ITEMS = 1 << 20;
  private final QueryBodyParser parser = new QueryBodyParser(MAX_ITEMS);
  private final QueryBody body = new QueryBody();

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {"model":"m","block_size":16,"token_ids":[1,-1]}      ~ OUT_OF_RANGE ~ token_ids ~ 1
          {"model":"m","block_size":16,"token_ids":[4294967296]} ~ OUT_OF_RANGE ~ token_ids ~ 0
          {"model":"m","block_size":16,"token_ids":[1,2,1.5]}   ~ INVALID_TYPE ~ token_ids ~ 2
          {"model":"m","block_size":16,"token_ids":[1,"2"]}     ~ INVALID_TYPE ~ token_ids ~ 1
          {"model":"m","block_size":16,"token_ids":[null]}      ~ INVALID_TYPE ~ token_ids ~ 0
          {"model":"m","block_size":16,"token_ids":[[1]]}       ~ INVALID_TYPE ~ token_ids ~ 0
          {"model":"m","block_size":16,"token_ids":"1"}         ~ INVALID_TYPE ~ token_ids ~ -1
          {"model":"m","block_size":16,"token_ids":null}        ~ MISSING ~ token_ids ~ -1
          {"model":"m","block_size":16}                         ~ MISSING ~ token_ids ~ -1
          {"model":"m","block_size":0,"token_ids":[]}           ~ OUT_OF_RANGE ~ block_size ~ -1
          {"model":"m","block_size":-16,"token_ids":[]}         ~ OUT_OF_RANGE ~ block_size ~ -1
          {"model":"m","block_size":1048577,"token_ids":[]}     ~ OUT_OF_RANGE ~ block_size ~ -1
          {"model":"m","block_size":99999999999999999999,"token_ids":[]} ~ OUT_OF_RANGE ~ block_size ~ -1
          {"model":"m","block_size":"16","token_ids":[]}        ~ INVALID_TYPE ~ block_size ~ -1
          {"model":"m","block_size":16.0,"token_ids":[]}        ~ INVALID_TYPE ~ block_size ~ -1
          {"model":"","token_ids":[]}                           ~ MISSING ~ model ~ -1
          {"token_ids":[]}                                      ~ MISSING ~ model ~ -1
          {"model":null,"token_ids":[]}                         ~ MISSING ~ model ~ -1
          {"model":"m","model":null,"token_ids":[]}             ~ MISSING ~ model ~ -1
          {"model":7,"token_ids":[]}                            ~ INVALID_TYPE ~ model ~ -1
          {"model":"m","model_name":"m","token_ids":[]}         ~ CONFLICTING_FIELDS ~ model_name ~ -1
          {"model":"m","modelname":"m","token_ids":[]}          ~ CONFLICTING_FIELDS ~ modelname ~ -1
          {"model":"m","token_ids":[],"instance_id":1}          ~ INVALID_TYPE ~ instance_id ~ -1
          {"model":"m","token_ids":[],"lora_id":3,"lora_name":"a"} ~ CONFLICTING_FIELDS ~ lora_id ~ -1
          {"model":"m","token_ids":[],"lora_id":-2}             ~ OUT_OF_RANGE ~ lora_id ~ -1
          {"model":"m","token_ids":[],"tenant_id":{}}           ~ INVALID_TYPE ~ tenant_id ~ -1
          {"model":"m","token_ids":[],"min_event":5}            ~ INVALID_TYPE ~ min_event ~ -1
          {"model":"m","token_ids":[],"min_event":{}}           ~ MISSING ~ min_event.instance_id ~ -1
          {"model":"m","token_ids":[],"min_event":{"instance_id":"a"}} ~ MISSING ~ min_event.event_id ~ -1
          {"model":"m","token_ids":[],"min_event":{"instance_id":"a","event_id":-1}} ~ OUT_OF_RANGE ~ min_event.event_id ~ -1
          {"model":"m","token_ids":[],"min_event":{"instance_id":"a","event_id":18446744073709551616}} ~ OUT_OF_RANGE ~ min_event.event_id ~ -1
          {"model":"m","token_ids":[],"min_event":{"instance_id":"a","event_id":-18446744073709551615}} ~ OUT_OF_RANGE ~ min_event.event_id ~ -1
          {"model":"m","token_ids":[1,2                         ~ INVALID_JSON ~ ~ -1
          {"model":"m","token_ids":[1,,2]}                      ~ INVALID_JSON ~ ~ -1
          {"model":"m","token_ids":[01]}                        ~ INVALID_JSON ~ ~ -1
          {"model":"m","token_ids":[]} x                        ~ INVALID_JSON ~ ~ -1
          [1]                                                   ~ INVALID_JSON ~ ~ -1
          ''                                                    ~ INVALID_JSON ~ ~ -1
          """)
  void shouldRefuseTokenQuery_whenBodyIsBad(String json, ErrorCode code, String field, int index) {
    assertRefused(QueryForm.TOKENS, json, code, field, index);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {"model":"m","lora_name":"\\ud800","seq_hashes":[1]}   ~ INVALID_VALUE ~ lora_name ~ -1
          {"model":"m","seq_hashes":[1],"block_hash":[1]}       ~ CONFLICTING_FIELDS ~ block_hash ~ -1
          {"model":"m","block_hashes":[1]}                      ~ UNKNOWN_FIELD ~ block_hashes ~ -1
          {"model":"m"}                                         ~ MISSING ~ seq_hashes ~ -1
          {"model":"m","seq_hashes":[18446744073709551616]}     ~ OUT_OF_RANGE ~ seq_hashes ~ 0
          {"model":"m","seq_hashes":[-9223372036854775809]}     ~ OUT_OF_RANGE ~ seq_hashes ~ 0
          {"model":"m","seq_hashes":[1,"zz"]}                   ~ INVALID_VALUE ~ seq_hashes ~ 1
          {"model":"m","block_hash":[1,"0x12345678901234567"]}  ~ INVALID_VALUE ~ block_hash ~ 1
          {"model":"m","block_hash":["0x"]}                     ~ INVALID_VALUE ~ block_hash ~ 0
          {"model":"m","block_hash":[1e3]}                      ~ INVALID_TYPE ~ block_hash ~ 0
          {"model":"m","block_hash":[true]}                     ~ INVALID_TYPE ~ block_hash ~ 0
          """)
  void shouldRefuseHashQuery_whenBodyIsBad(String json, ErrorCode code, String field, int index) {
    assertRefused(QueryForm.HASHES, json, code, field, index);
  }

  @Test
  void shouldReadAllSpellings_whenHashesAreMixed() {
    parse(
        QueryForm.HASHES,
        "{\"model\":\"m\",\"block_hash\":[18446744073709551615,-1,\"0xFFFFFFFFFFFFFFFF\",\"-1\","
            + "\"18446744073709551615\", -9223372036854775808,\"0x00\",0]}");
    assertThat(java.util.Arrays.copyOf(body.hashes(), body.count()))
        .containsExactly(-1, -1, -1, -1, -1, Long.MIN_VALUE, 0, 0);
  }

  @Test
  void shouldReadEscapesAndUnicode_whenNamesAreUnusual() {
    parse(
        QueryForm.TOKENS,
        "{\"mod\\u0065l\":\"caf\u00e9 \\\"x\\\"\",\"token_ids\":[ 1 ,\n2],\"extra\":{\"a\":[{}]}}");
    assertThat(body.model()).isEqualTo("caf\u00e9 \"x\"");
    assertThat(body.count()).isEqualTo(2);
  }

  @Test
  void shouldLetLastWin_whenMemberIsRepeated() {
    parse(
        QueryForm.TOKENS,
        "{\"model\":\"a\",\"model\":\"b\",\"token_ids\":[1,2],\"token_ids\":[3]}");
    assertThat(body.model()).isEqualTo("b");
    assertThat(body.count()).isOne();
    assertThat(body.tokens()[0]).isEqualTo(3);
  }

  @Test
  void shouldUseDefaults_whenOptionalMembersAreNullOrEmpty() {
    parse(
        QueryForm.TOKENS,
        "{\"model\":\"m\",\"token_ids\":[],\"tenant_id\":\"\",\"lora_name\":null,\"lora_id\":null,"
            + "\"cache_salt\":null,\"instance_id\":\"\",\"block_size\":null}");
    assertThat(JsonFuzzTest.describe(body, QueryForm.TOKENS)).isEqualTo("m|0|default||-1||null|[]");
  }

  @Test
  void shouldRefuse_whenThereAreMoreItemsThanAllowed() {
    String json = "{\"model\":\"m\",\"token_ids\":[1,2,3]}";
    byte[] text = json.getBytes(StandardCharsets.UTF_8);
    ApiException refusal =
        catchThrowableOfType(
            ApiException.class,
            () -> new QueryBodyParser(2).parse(text, text.length, QueryForm.TOKENS, body));
    assertThat(refusal.code()).isEqualTo(ErrorCode.TOO_MANY_ITEMS);
    assertThat(refusal.index()).isEqualTo(2);
  }

  @Test
  void shouldReadEveryToken_whenThePromptIsLong() {
    int[] wanted = IntStream.range(0, 32_768).map(i -> i * 131_071).toArray();
    String list =
        IntStream.of(wanted).mapToObj(Integer::toUnsignedString).collect(Collectors.joining(", "));
    parse(QueryForm.TOKENS, "{\"model\":\"m\",\"block_size\":16,\"token_ids\":[" + list + "]}");
    assertThat(java.util.Arrays.copyOf(body.tokens(), body.count())).isEqualTo(wanted);
  }

  @Test
  void shouldAllocateNothingPerToken_whenBodiesRepeat() {
    String list =
        IntStream.range(0, 32_768).mapToObj(i -> "" + i * 5).collect(Collectors.joining(","));
    String json = "{\"model\":\"m\",\"tenant_id\":\"t\",\"token_ids\":[" + list + "]}";
    byte[] text =
        java.util.Arrays.copyOf(
            json.getBytes(StandardCharsets.UTF_8), json.length() + QueryBodyParser.PADDING);
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
    long before = 0;
    for (int i = 0; i < 200; i++) {
      if (i == 100) {
        before = threads.getCurrentThreadAllocatedBytes();
      }
      parser.parse(text, json.length(), QueryForm.TOKENS, body);
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(100 * 256);
  }

  private void assertRefused(QueryForm form, String json, ErrorCode code, String field, int index) {
    ApiException refusal = catchThrowableOfType(ApiException.class, () -> parse(form, json));
    assertThat(refusal).as("nothing refused").isNotNull();
    assertThat(refusal.code()).isEqualTo(code);
    assertThat(refusal.field()).isEqualTo(field);
    assertThat(refusal.index()).isEqualTo(index);
    assertThat(refusal).hasMessageMatching("(?s).*[a-z].*").message().doesNotContain("Source:");
  }

  private void parse(QueryForm form, String json) {
    byte[] text = json.getBytes(StandardCharsets.UTF_8);
    parser.parse(text, text.length, form, body);
  }

  /** Offsets are those of the partition the table is in: another one's count differently. */
  @Test
  void shouldWaitForAnEventInItsOwnTableOnly() {
    TableId table = new TableId("default", "m", 16, HashProfile.XXH3_DEFAULT);
    QueryBody body = new QueryBody();
    assertThat(body.visibleFrom(table)).isEqualTo(TableView.ANY_OFFSET);
    body.awaited(new EventPlace(table, 300));
    assertThat(body.visibleFrom(table)).isEqualTo(300);
    TableId other = new TableId("default", "m", 32, HashProfile.XXH3_DEFAULT);
    assertThat(body.visibleFrom(other)).isEqualTo(TableView.ANY_OFFSET);
    body.reset();
    assertThat(body.visibleFrom(table)).isEqualTo(TableView.ANY_OFFSET);
  }
}
