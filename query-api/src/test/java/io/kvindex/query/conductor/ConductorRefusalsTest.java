// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that are no query, and what is said of them. */
class ConductorRefusalsTest extends ConductorFixture {

  @ParameterizedTest
  @ValueSource(strings = {"not json", "{", "[]", "\"x\"", "{\"model\":\"m\",\"token_ids\":[1,]}"})
  void shouldRefuseAndGoOn_whenBodyIsNoQuery(String body) throws Exception {
    register("a", 0, 2);
    HttpResponse<String> answer = post("/query", body);
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body()).startsWith("{\"error\":\"").contains("\"reason\":\"invalid_json\"");
    assertThat(query("", SIX).statusCode()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {"model":"m","block_size":2,"token_ids":[1,-1]}        ~ out_of_range ~ token_ids ~ 1
          {"model":"m","block_size":2,"token_ids":[4294967296]}  ~ out_of_range ~ token_ids ~ 0
          {"model":"m","block_size":2,"token_ids":[1,"2"]}       ~ invalid_type ~ token_ids ~ 1
          {"model":"m","block_size":2,"token_ids":[1,2.5]}       ~ invalid_type ~ token_ids ~ 1
          {"model":"m","block_size":2,"token_ids":{}}            ~ invalid_type ~ token_ids ~
          {"model":"m","block_size":2,"token_ids":null}          ~ missing ~ token_ids ~
          {"model":"m","block_size":2}                           ~ missing ~ token_ids ~
          {"block_size":2,"token_ids":[1]}                       ~ missing ~ model ~
          {"model":["m"],"token_ids":[1]}                        ~ invalid_type ~ model ~
          {"model":"m","block_size":0,"token_ids":[1]}           ~ out_of_range ~ block_size ~
          {"model":"m","block_size":1e9,"token_ids":[1]}         ~ invalid_type ~ block_size ~
          {"model":"m","block_size":1000000000,"token_ids":[1]}  ~ out_of_range ~ block_size ~
          """)
  void shouldNameFieldAndIndex_whenValueIsBad(
      String body, String reason, @Nullable String field, @Nullable Integer index)
      throws Exception {
    HttpResponse<String> answer = post("/query", body);
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(answer.body())
        .startsWith("{\"error\":\"`" + field)
        .endsWith(
            "\"reason\":\""
                + reason
                + "\",\"field\":\""
                + field
                + "\""
                + (index == null ? "}" : ",\"index\":" + index + "}"));
  }
}
