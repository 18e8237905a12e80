// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.model.SourceType;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.SeqHash;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every case in which the Conductor's implementations or documents differ or are silent on a query,
 * for its JSON clients: status and body, one row each. Of refusals the members named are compared.
 *
 * <p>{@code e0} holds tokens 0 to 31 in two blocks, and the first of them for adapter {@code sql},
 * which its events call 7 as well. In rows {@code $n} stands for the tokens 0 to n - 1, {@code #}
 * for the hashes of those two blocks, {@code Z} for a row of zeros and {@code Hn} for one of n.
 */
class ConductorEdgeCasesTest extends ConductorFixture {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int BLOCK = 16;
  private static final int[] HELD = IntStream.range(0, 2 * BLOCK).toArray();
  private static final Pattern TOKENS = Pattern.compile("\\$(\\d+)");
  private static final Pattern HIT = Pattern.compile("\\bH(\\d+)\\b");

  @BeforeEach
  void registerAndStore() {
    register("e0", 0, BLOCK);
    register("acme", "a0", "m", BLOCK, SourceType.VLLM);
    register("default", "t16", "two", 16, SourceType.VLLM);
    register("default", "t32", "two", 32, SourceType.VLLM);
    register("default", "pool", "pooled", BLOCK, SourceType.MOONCAKE);
    index.store("e0/0/GPU", 0, HELD, BLOCK, 0, 1);
    index.store("e0/0/GPU", ContextHash.of("sql", null, null), HELD, BLOCK, 0);
    index.learn("e0", 7, "sql");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {"model":"m","block_size":16,"token_ids":$32}                       ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"token_ids":$24}                       ~ 200 ~ {"default":{"e0":H16}}
          {"model":"m","block_size":16,"token_ids":$48}                       ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"token_ids":$15}                       ~ 200 ~ {"default":{"e0":Z}}
          {"model":"m","block_size":16,"token_ids":[]}                        ~ 200 ~ {"default":{"e0":Z}}
          {"model":"m","block_size":16,"token_ids":null}                      ~ 400 ~ {"reason":"missing","field":"token_ids"}
          {"model":"m","block_size":16}                                       ~ 400 ~ {"reason":"missing","field":"token_ids"}
          {"model":"m","block_size":16,"token_ids":5}                         ~ 400 ~ {"reason":"invalid_type","field":"token_ids"}
          {"model":"m","block_size":16,"token_ids":[0,-1]}                    ~ 400 ~ {"reason":"out_of_range","field":"token_ids","index":1}
          {"model":"m","block_size":16,"token_ids":[0,4294967296]}            ~ 400 ~ {"reason":"out_of_range","field":"token_ids","index":1}
          {"model":"m","block_size":16,"token_ids":[2147483648,4294967295]}   ~ 200 ~ {"default":{"e0":Z}}
          {"model":"m","block_size":16,"token_ids":[0,"1"]}                   ~ 400 ~ {"reason":"invalid_type","field":"token_ids","index":1}
          {"model":"m","block_size":16,"token_ids":[0,1.5]}                   ~ 400 ~ {"reason":"invalid_type","field":"token_ids","index":1}
          {"model":"m","block_size":16,"token_ids":[0,null]}                  ~ 400 ~ {"reason":"invalid_type","field":"token_ids","index":1}
          {"block_size":16,"token_ids":$32}                                   ~ 400 ~ {"reason":"missing","field":"model"}
          {"model":"","block_size":16,"token_ids":$32}                        ~ 400 ~ {"reason":"missing","field":"model"}
          {"model":5,"block_size":16,"token_ids":$32}                         ~ 400 ~ {"reason":"invalid_type","field":"model"}
          {"model":"unknown","block_size":16,"token_ids":$32}                 ~ 200 ~ {"default":{}}
          {"modelname":"m","block_size":16,"token_ids":$32}                   ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","modelname":"m","block_size":16,"token_ids":$32}       ~ 400 ~ {"reason":"conflicting_fields","field":"modelname"}
          {"model":"m","token_ids":$32}                                       ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":null,"token_ids":$32}                     ~ 200 ~ {"default":{"e0":H32}}
          {"model":"two","token_ids":$32}                                     ~ 400 ~ {"field":"block_size"}
          {"model":"pooled","block_size":16,"token_ids":$32}                  ~ 200 ~ {"default":{}}
          {"model":"m","block_size":8,"token_ids":$32}                        ~ 200 ~ {"default":{}}
          {"model":"m","block_size":0,"token_ids":$32}                        ~ 400 ~ {"reason":"out_of_range","field":"block_size"}
          {"model":"m","block_size":-16,"token_ids":$32}                      ~ 400 ~ {"reason":"out_of_range","field":"block_size"}
          {"model":"m","block_size":"16","token_ids":$32}                     ~ 400 ~ {"reason":"invalid_type","field":"block_size"}
          {"model":"m","block_size":16,"tenant_id":null,"token_ids":$32}      ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"tenant_id":"","token_ids":$32}        ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"tenant_id":"acme","token_ids":$32}    ~ 200 ~ {"acme":{"a0":Z}}
          {"model":"m","block_size":16,"tenant_id":"nobody","token_ids":$32}  ~ 200 ~ {"nobody":{}}
          {"model":"m","block_size":16,"instance_id":"e0","token_ids":$32}    ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"instance_id":"zzz","token_ids":$32}   ~ 200 ~ {"default":{}}
          {"model":"m","block_size":16,"instance_id":null,"token_ids":$32}    ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"instance_id":"","token_ids":$32}      ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"lora_name":"sql","token_ids":$32}     ~ 200 ~ {"default":{"e0":H16}}
          {"model":"m","block_size":16,"lora_name":"nobody","token_ids":$32}  ~ 200 ~ {"default":{"e0":Z}}
          {"model":"m","block_size":16,"lora_name":null,"token_ids":$32}      ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"lora_name":"","token_ids":$32}        ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"lora_id":7,"token_ids":$32}           ~ 200 ~ {"default":{"e0":H16}}
          {"model":"m","block_size":16,"lora_id":8,"token_ids":$32}           ~ 200 ~ {"default":{"e0":Z}}
          {"model":"m","block_size":16,"lora_id":-1,"token_ids":$32}          ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"lora_id":null,"token_ids":$32}        ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"lora_id":-1,"lora_name":"sql","token_ids":$32} ~ 200 ~ {"default":{"e0":H16}}
          {"model":"m","block_size":16,"lora_id":7,"lora_name":"","token_ids":$32}     ~ 200 ~ {"default":{"e0":H16}}
          {"model":"m","block_size":16,"lora_id":7,"lora_name":"sql","token_ids":$32}  ~ 400 ~ {"reason":"conflicting_fields","field":"lora_id"}
          {"model":"m","block_size":16,"lora_id":"7","token_ids":$32}         ~ 400 ~ {"reason":"invalid_type","field":"lora_id"}
          {"model":"m","block_size":16,"cache_salt":null,"token_ids":$32}     ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"cache_salt":"","token_ids":$32}       ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"cache_salt":"wrong","token_ids":$32}  ~ 200 ~ {"default":{"e0":Z}}
          {"model":"m","block_size":16,"cache_salt":5,"token_ids":$32}        ~ 400 ~ {"reason":"invalid_type","field":"cache_salt"}
          {"model":"m","block_size":16,"nobody knows":{"a":[1]},"token_ids":$32} ~ 200 ~ {"default":{"e0":H32}}
          {"model":"x","model":"m","block_size":16,"token_ids":$32}           ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"token_ids":$32} x                     ~ 400 ~ {"reason":"invalid_json"}
          {"model":"m","block_size":16,"token_ids":$32                        ~ 400 ~ {"reason":"invalid_json"}
          [1]                                                                 ~ 400 ~ {"reason":"invalid_json"}
          ''                                                                  ~ 400 ~ {"reason":"invalid_json"}
          """)
  void shouldAnswerQueriesAsDecided(String body, int status, String answer) throws Exception {
    compare(post("/query", expand(body)), status, answer);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {"model":"m","block_size":16,"seq_hashes":#}                   ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"block_hash":#}                   ~ 200 ~ {"default":{"e0":H32}}
          {"model":"m","block_size":16,"seq_hashes":#,"block_hash":#}    ~ 400 ~ {"reason":"conflicting_fields","field":"block_hash"}
          {"model":"m","block_size":16,"block_hashes":#}                 ~ 400 ~ {"error":"`block_hashes`: did you mean `seq_hashes`?","field":"block_hashes"}
          {"model":"m","seq_hashes":#}                                   ~ 200 ~ {"default":{"e0":H32}}
          {"model":"two","seq_hashes":#}                                 ~ 400 ~ {"field":"block_size"}
          {"model":"m","block_size":16,"seq_hashes":[]}                  ~ 200 ~ {"default":{"e0":Z}}
          {"model":"m","block_size":16,"seq_hashes":null}                ~ 400 ~ {"reason":"missing","field":"seq_hashes"}
          {"model":"m","block_size":16}                                  ~ 400 ~ {"reason":"missing","field":"seq_hashes"}
          {"model":"m","block_size":16,"seq_hashes":["0xfF","-1","18446744073709551615",-9223372036854775808]} ~ 200 ~ {"default":{"e0":Z}}
          {"model":"m","block_size":16,"seq_hashes":[1,18446744073709551616]} ~ 400 ~ {"reason":"out_of_range","field":"seq_hashes","index":1}
          {"model":"m","block_size":16,"seq_hashes":[1,-9223372036854775809]} ~ 400 ~ {"reason":"out_of_range","field":"seq_hashes","index":1}
          {"model":"m","block_size":16,"seq_hashes":[1,1.5]}             ~ 400 ~ {"reason":"invalid_type","field":"seq_hashes","index":1}
          {"model":"m","block_size":16,"lora_name":"sql","seq_hashes":#} ~ 200 ~ {"default":{"e0":H16}}
          {"model":"m","block_size":16,"cache_salt":"wrong","seq_hashes":#} ~ 200 ~ {"default":{"e0":Z}}
          """)
  void shouldAnswerQueriesByHashAsDecided(String body, int status, String answer) throws Exception {
    compare(post("/query_by_hash", expand(body)), status, answer);
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /query, 405, method_not_allowed",
    "PUT, /query, 405, method_not_allowed",
    "DELETE, /query_by_hash, 405, method_not_allowed",
    "GET, /nothing, 404, not_found",
    "POST, /nothing, 404, not_found",
  })
  void shouldRefuseOtherMethodsAndPaths(String method, String path, int status, String reason)
      throws Exception {
    HttpRequest.Builder request = request(path).method(method, BodyPublishers.ofString("{}"));
    compare(send(request), status, "{\"reason\":\"" + reason + "\"}");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "application/json",
        "application/json; charset=utf-8",
        "text/plain",
        "application/x-www-form-urlencoded"
      })
  void shouldReadJson_whateverTheContentTypeSays(String type) throws Exception {
    String query = expand("{\"model\":\"m\",\"token_ids\":$32}");
    HttpRequest.Builder request = request("/query").POST(BodyPublishers.ofString(query));
    if (!type.isEmpty()) {
      request.header("Content-Type", type);
    }
    compare(send(request), 200, "{\"default\":{\"e0\":H32}}");
  }

  private static void compare(HttpResponse<String> answer, int status, String wanted)
      throws Exception {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
    if (status == 200) {
      assertThat(answer.body()).isEqualTo(rows(wanted));
      return;
    }
    JsonNode told = JSON.readTree(answer.body());
    assertThat(told.path("error").asText()).isNotBlank();
    for (Map.Entry<String, JsonNode> member : JSON.readTree(wanted).properties()) {
      assertThat(told.path(member.getKey())).as(member.getKey()).isEqualTo(member.getValue());
    }
  }

  private static String expand(String body) {
    SeqHash hash = new SeqHash(1337);
    String hashes =
        Arrays.stream(hash.rolled(hash.locals(HELD, HELD.length, BLOCK)))
            .mapToObj(Long::toUnsignedString)
            .collect(Collectors.joining(",", "[", "]"));
    return TOKENS
        .matcher(body.replace("#", hashes))
        .replaceAll(match -> IntStream.range(0, number(match)).boxed().toList().toString());
  }

  private static String rows(String answer) {
    return HIT.matcher(answer.replace(":Z", ":" + ZERO)).replaceAll(match -> row(number(match)));
  }

  private static String row(int tokens) {
    return "{\"longest_matched\":%d,\"GPU\":%d,\"DP\":{\"0\":%d},\"CPU\":0,\"DISK\":0}"
        .formatted(tokens, tokens, tokens);
  }

  private static int number(MatchResult match) {
    return Integer.parseInt(match.group(1));
  }
}
