// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What registering and unregistering answers and changes. */
class RegistrationRoutesIT extends RegistrationFixture {

  @Test
  void shouldNameEachDifference_whenRegistrationConflicts() throws Exception {
    post(0, "/register", body(""));
    String other =
        body(",\"replay_endpoint\":\"tcp://10.0.0.1:5558\"")
            .replace("\"block_size\":16", "\"block_size\":32");
    HttpResponse<String> answer = post(1, "/register", other);
    assertThat(answer.statusCode()).isEqualTo(409);
    assertThat(answer.body())
        .contains("replay_endpoint (none, now tcp://10.0.0.1:5558)")
        .contains("block_size (16, now 32)")
        .contains("\"reason\":\"registration_conflict\"");
  }

  @Test
  void shouldBeginNewGeneration_whenReplaced() throws Exception {
    post(0, "/register", body(""));
    long generation = service(0).path("Generation").asLong();
    String moved = body(",\"replace\":true").replace("10.0.0.1", "10.0.0.2");
    assertThat(post(0, "/register", moved).statusCode()).isEqualTo(200);
    assertThat(service(0).path("Generation").asLong()).isGreaterThan(generation);
    assertThat(service(0).path("Endpoint").asText()).isEqualTo("tcp://10.0.0.2:5557");
  }

  @Test
  void shouldKeepTheGeneration_whenAdapterIsAddedAndRemoved() throws Exception {
    post(0, "/register", body(""));
    post(0, "/register", body(",\"lora_name\":\"sql\""));
    List<JsonNode> both = services(0);
    assertThat(both).extracting(s -> s.path("LoraName").asText()).containsExactly("", "sql");
    assertThat(both.get(0).path("Generation")).isEqualTo(both.get(1).path("Generation"));
    HttpResponse<String> answer = post(0, "/unregister", body(",\"lora_name\":\"sql\""));
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body())
        .isEqualTo(
            "{\"status\":\"unregistered successfully\",\"removed_instances\":[],"
                + "\"removed_adapters\":[\"sql\"]}");
    assertThat(services(0)).extracting(s -> s.path("LoraName").asText()).containsExactly("");
  }

  @Test
  void shouldRemoveThePublisher_whenUnregistered() throws Exception {
    post(0, "/register", body(""));
    HttpResponse<String> answer = post(1, "/unregister", body(""));
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body())
        .isEqualTo(
            "{\"status\":\"unregistered successfully\",\"removed_instances\":[\""
                + key(instance)
                + "\"]}");
    HttpResponse<String> again = post(0, "/unregister", body(""));
    assertThat(again.statusCode()).isEqualTo(404);
    assertThat(again.body()).contains("\"error\":\"service not found: " + key(instance) + "\"");
  }

  private static String key(String instance) {
    return instance + "|default|0";
  }

  @Test
  void shouldRefuseAnotherHashProfile_whenTheTableHasOne() throws Exception {
    post(0, "/register", body(""));
    String other =
        body(",\"hash_profile\":{\"algorithm\":\"xxh3\",\"seed\":7}")
            .replace("\"instance_id\":\"" + instance, "\"instance_id\":\"other-" + instance);
    HttpResponse<String> answer = post(1, "/register", other);
    assertThat(answer.statusCode()).isEqualTo(409);
    assertThat(answer.body()).contains("\"field\":\"hash_profile\"").contains("xxh3:1337");
  }

  @Test
  void shouldBeSeparatePublishers_whenRankOrTenantDiffers() throws Exception {
    post(0, "/register", body(""));
    assertThat(
            post(0, "/register", body("").replace("\"dp_rank\":0", "\"dp_rank\":1")).statusCode())
        .isEqualTo(200);
    assertThat(post(0, "/register", body(",\"tenant_id\":\"acme\"")).statusCode()).isEqualTo(200);
    assertThat(services(0)).hasSize(3);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {                                                  ~ invalid_json ~
          []                                                 ~ invalid_json ~
          {"endpoint":"a","endpoint":"b"}                    ~ invalid_json ~
          {}                                                 ~ missing ~ endpoint
          {"endpoint":7}                                     ~ invalid_type ~ endpoint
          {"endpoint":"bogus"}                               ~ invalid_value ~ endpoint
          {"endpoint":"tcp://h"}                             ~ invalid_value ~ endpoint
          {"endpoint":"tcp://:1"}                            ~ invalid_value ~ endpoint
          {"endpoint":"tcp://::1:80"}                        ~ invalid_value ~ endpoint
          {"endpoint":"tcp://h:65536"}                       ~ invalid_value ~ endpoint
          {"endpoint":"udp://h:1"}                           ~ invalid_value ~ endpoint
          {"endpoint":"tcp://*:1","replay_endpoint":"x"}     ~ invalid_value ~ replay_endpoint
          {"endpoint":"tcp://*:1"}                           ~ missing ~ type
          {"endpoint":"ipc:///t","type":"llama"}             ~ invalid_value ~ type
          {"endpoint":"tcp://[::1]:1","type":"sglang"}       ~ missing ~ modelname
          {"endpoint":"tcp://h:1","type":"VLLM","modelname":"m"} ~ missing ~ instance_id
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":""} ~ missing ~ instance_id
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e"} ~ missing ~ block_size
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":0} ~ out_of_range ~ block_size
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":1048577} ~ out_of_range ~ block_size
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":"16"} ~ invalid_type ~ block_size
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","dp_rank":-1} ~ out_of_range ~ dp_rank
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","dp_rank":2147483648} ~ out_of_range ~ dp_rank
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":16,"copies":"many"} ~ invalid_value ~ copies
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":16,"pools":[1]} ~ invalid_type ~ pools
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":16,"hash_profile":"md5"} ~ unsupported ~ hash_profile
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e","block_size":16,"replace":"yes"} ~ invalid_type ~ replace
          """)
  void shouldRefuse_whenRegistrationIsBad(String body, String reason, String field)
      throws Exception {
    HttpResponse<String> answer = post(0, "/register", body);
    assertThat(answer.statusCode()).isEqualTo(400);
    JsonNode json = JSON.readTree(answer.body());
    assertThat(json.path("reason").asText()).isEqualTo(reason);
    assertThat(json.path("field").asText(null)).isEqualTo(field);
    assertThat(json.path("error").asText()).isNotBlank();
  }
}
