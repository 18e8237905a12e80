// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every case in which the Conductor's implementations or documents differ or are silent on
 * registrations, for its JSON clients: status and body, one row each. Of refusals the members named
 * are compared.
 */
class ConductorRegistrationIT extends RegistrationFixture {

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {}                                                ~ 200 ~
          {"endpoint":null}                                 ~ 400 ~ {"reason":"missing","field":"endpoint"}
          {"endpoint":""}                                   ~ 400 ~ {"reason":"missing","field":"endpoint"}
          {"endpoint":5}                                    ~ 400 ~ {"reason":"invalid_type","field":"endpoint"}
          {"endpoint":"bogus"}                              ~ 400 ~ {"reason":"invalid_value","field":"endpoint"}
          {"endpoint":"tcp://no-such-host.invalid:5557"}    ~ 200 ~
          {"endpoint":"tcp://h"}                            ~ 400 ~ {"reason":"invalid_value","field":"endpoint"}
          {"endpoint":"tcp://:1"}                           ~ 400 ~ {"reason":"invalid_value","field":"endpoint"}
          {"endpoint":"tcp://::1:80"}                       ~ 400 ~ {"reason":"invalid_value","field":"endpoint"}
          {"endpoint":"tcp://h:65536"}                      ~ 400 ~ {"reason":"invalid_value","field":"endpoint"}
          {"endpoint":"udp://h:1"}                          ~ 400 ~ {"reason":"invalid_value","field":"endpoint"}
          {"endpoint":"tcp://*:1"}                          ~ 200 ~
          {"endpoint":"tcp://[::1]:1"}                      ~ 200 ~
          {"endpoint":"ipc:///t"}                           ~ 400 ~ {"reason":"invalid_value","field":"endpoint"}
          {"endpoint":"inproc://t"}                         ~ 400 ~ {"reason":"invalid_value","field":"endpoint"}
          {"endpoint":"tcp://h:0"}                          ~ 400 ~ {"reason":"invalid_value","field":"endpoint"}
          {"endpoint":"tcp://*:0"}                          ~ 400 ~ {"reason":"invalid_value","field":"endpoint"}
          {"endpoint":"tcp://255.255.255.255:1"}            ~ 400 ~ {"reason":"invalid_value","field":"endpoint"}
          {"endpoint":"tcp://0.0.0.0:1"}                    ~ 200 ~
          {"endpoint":"tcp://[::]:1"}                       ~ 200 ~
          {"replay_endpoint":null}                          ~ 200 ~
          {"replay_endpoint":""}                            ~ 200 ~
          {"replay_endpoint":"tcp://*:5558"}                ~ 400 ~ {"reason":"invalid_value","field":"replay_endpoint"}
          {"replay_endpoint":"ipc:///t"}                    ~ 400 ~ {"reason":"invalid_value","field":"replay_endpoint"}
          {"replay_endpoint":"bogus"}                       ~ 400 ~ {"reason":"invalid_value","field":"replay_endpoint"}
          {"type":null}                                     ~ 400 ~ {"reason":"missing","field":"type"}
          {"type":"vllm"}                                   ~ 200 ~
          {"type":"SGLang"}                                 ~ 200 ~
          {"type":"Mooncake"}                               ~ 200 ~
          {"type":"llama"}                                  ~ 400 ~ {"reason":"invalid_value","field":"type"}
          {"modelname":null}                                ~ 400 ~ {"reason":"missing","field":"modelname"}
          {"modelname":""}                                  ~ 400 ~ {"reason":"missing","field":"modelname"}
          {"modelname":null,"model":"r"}                    ~ 200 ~
          {"model":"r"}                                     ~ 400 ~ {"reason":"conflicting_fields","field":"model"}
          {"instance_id":null}                              ~ 400 ~ {"reason":"missing","field":"instance_id"}
          {"instance_id":""}                                ~ 400 ~ {"reason":"missing","field":"instance_id"}
          {"instance_id":7}                                 ~ 400 ~ {"reason":"invalid_type","field":"instance_id"}
          {"block_size":null}                               ~ 400 ~ {"reason":"missing","field":"block_size"}
          {"block_size":0}                                  ~ 400 ~ {"reason":"out_of_range","field":"block_size"}
          {"block_size":-1}                                 ~ 400 ~ {"reason":"out_of_range","field":"block_size"}
          {"block_size":1048576}                            ~ 200 ~
          {"block_size":1048577}                            ~ 400 ~ {"reason":"out_of_range","field":"block_size"}
          {"block_size":"16"}                               ~ 400 ~ {"reason":"invalid_type","field":"block_size"}
          {"block_size":16.5}                               ~ 400 ~ {"reason":"invalid_type","field":"block_size"}
          {"dp_rank":null}                                  ~ 200 ~
          {"dp_rank":2147483647}                            ~ 200 ~
          {"dp_rank":2147483648}                            ~ 400 ~ {"reason":"out_of_range","field":"dp_rank"}
          {"dp_rank":-1}                                    ~ 400 ~ {"reason":"out_of_range","field":"dp_rank"}
          {"dp_rank":"0"}                                   ~ 400 ~ {"reason":"invalid_type","field":"dp_rank"}
          {"tenant_id":null}                                ~ 200 ~
          {"tenant_id":""}                                  ~ 200 ~
          {"tenant_id":5}                                   ~ 400 ~ {"reason":"invalid_type","field":"tenant_id"}
          {"lora_name":null}                                ~ 200 ~
          {"lora_name":5}                                   ~ 400 ~ {"reason":"invalid_type","field":"lora_name"}
          {"additionalsalt":null}                           ~ 200 ~
          {"additionalsalt":"w8a8"}                         ~ 200 ~
          {"additional_salt":"w8a8"}                        ~ 200 ~
          {"additionalsalt":"a","additional_salt":"b"}      ~ 400 ~ {"reason":"conflicting_fields","field":"additional_salt"}
          {"additionalsalt":5}                              ~ 400 ~ {"reason":"invalid_type","field":"additionalsalt"}
          {"cache_group":3,"nobody knows":[1]}              ~ 200 ~
          {"copies":"many"}                                 ~ 400 ~ {"reason":"invalid_value","field":"copies"}
          {"pools":[1]}                                     ~ 400 ~ {"reason":"invalid_type","field":"pools"}
          {"replace":"yes"}                                 ~ 400 ~ {"reason":"invalid_type","field":"replace"}
          {"hash_profile":null}                             ~ 200 ~
          {"hash_profile":"md5"}                            ~ 400 ~ {"reason":"unsupported","field":"hash_profile"}
          {"hash_profile":"xxh3_dynamo"}                    ~ 409 ~ {"reason":"registration_conflict","field":"hash_profile"}
          {"modelname":"cbor","hash_profile":{"strategy":"vllm_v1","algorithm":"sha256_cbor","python_hash_seed":"0","index_projection":"low64_be"}} ~ 200 ~
          {"modelname":"cbor","hash_profile":{"strategy":"vllm_v1","algorithm":"sha256_cbor","python_hash_seed":"0","index_projection":"low64_be","root_digest":"00"}} ~ 400 ~ {"reason":"unknown_field","field":"hash_profile"}
          """)
  void shouldAnswerRegistrationsAsDecided(String change, int status, @Nullable String answer)
      throws Exception {
    post(0, "/register", changed("{\"instance_id\":\"first\",\"modelname\":\"r\"}"));
    ObjectNode body = (ObjectNode) JSON.readTree(changed("{\"modelname\":\"r\"}"));
    body.setAll((ObjectNode) JSON.readTree(change));
    String success =
        "{\"status\":\"registered successfully\",\"instance_id\":\"" + instance + "\"}";
    compare(post(0, "/register", body.toString()), status, answer == null ? success : answer);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {                                ~ {"reason":"invalid_json"}
          []                               ~ {"reason":"invalid_json"}
          not json                         ~ {"reason":"invalid_json"}
          {"endpoint":"a","endpoint":"b"}  ~ {"reason":"invalid_json"}
          {}                               ~ {"reason":"missing","field":"endpoint"}
          {"endpoint":"tcp://h:1"}         ~ {"reason":"missing","field":"type"}
          {"endpoint":"tcp://h:1","type":"vLLM"} ~ {"reason":"missing","field":"modelname"}
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m"} ~ {"reason":"missing","field":"instance_id"}
          {"endpoint":"tcp://h:1","type":"vLLM","modelname":"m","instance_id":"e"} ~ {"reason":"missing","field":"block_size"}
          """)
  void shouldRefuse_whenTheBodyIsNoRegistration(String body, String answer) throws Exception {
    compare(post(0, "/register", body), 400, answer);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {"instance_id":"zzz","dp_rank":0}          ~ 404 ~ {"error":"service not found: zzz|default|0","reason":"service_not_found"}
          {"instance_id":"zzz"}                      ~ 404 ~ {"error":"service not found: zzz|default|0"}
          {"instance_id":"zzz","tenant_id":null}     ~ 404 ~ {"error":"service not found: zzz|default|0"}
          {"instance_id":"zzz","tenant_id":""}       ~ 404 ~ {"error":"service not found: zzz|default|0"}
          {"instance_id":"zzz","tenant_id":"t","dp_rank":3} ~ 404 ~ {"error":"service not found: zzz|t|3"}
          {"instance_id":"first","tenant_id":"acme"}    ~ 404 ~ {"error":"service not found: first|acme|0"}
          {"instance_id":"first","dp_rank":1}           ~ 404 ~ {"error":"service not found: first|default|1"}
          {"instance_id":"first","lora_name":"nobody"}  ~ 404 ~ {"error":"service not found: first|default|0"}
          {"instance_id":"zzz","modelname":5,"type":"?","block_size":-1} ~ 404 ~ {"error":"service not found: zzz|default|0"}
          {}                                         ~ 400 ~ {"reason":"missing","field":"instance_id"}
          {"instance_id":""}                         ~ 400 ~ {"reason":"missing","field":"instance_id"}
          {"instance_id":"first","dp_rank":-1}          ~ 400 ~ {"reason":"out_of_range","field":"dp_rank"}
          {"instance_id":"first","dp_rank":"0"}         ~ 400 ~ {"reason":"invalid_type","field":"dp_rank"}
          not json                                   ~ 400 ~ {"reason":"invalid_json"}
          []                                         ~ 400 ~ {"reason":"invalid_json"}
          """)
  void shouldAnswerUnregistrationsAsDecided(String body, int status, String answer)
      throws Exception {
    post(0, "/register", changed("{\"instance_id\":\"first\",\"modelname\":\"r\"}"));
    compare(post(0, "/unregister", body), status, answer);
  }

  @Test
  void shouldKeepTheOtherRank_whenOneIsUnregistered() throws Exception {
    for (int rank : new int[] {0, 1}) {
      post(0, "/register", changed("{\"dp_rank\":" + rank + "}"));
    }
    assertThat(ranks()).isEqualTo("[0,1]");
    unregister(0);
    assertThat(ranks()).isEqualTo("[1]");
    unregister(1);
    assertThat(ranks()).isEmpty();
    assertThat(services(0)).isEmpty();
  }

  private void unregister(int rank) throws Exception {
    compare(
        post(0, "/unregister", "{\"instance_id\":\"" + instance + "\",\"dp_rank\":" + rank + "}"),
        200,
        "{\"status\":\"unregistered successfully\",\"removed_instances\":[\""
            + instance
            + "|default|"
            + rank
            + "\"]}");
  }

  /** The instance's ranks in {@code /global_view}, empty if it is not there. */
  private String ranks() throws Exception {
    HttpRequest request = HttpRequest.newBuilder(uri(0, "/global_view")).build();
    JsonNode all = JSON.readTree(client.send(request, BodyHandlers.ofString()).body());
    assertThat(all.path("context_count").asInt()).isEqualTo(all.path("contexts").size());
    return all.findPath(instance).toString();
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /register, 405, method_not_allowed",
    "DELETE, /unregister, 405, method_not_allowed",
    "POST, /services, 405, method_not_allowed",
    "POST, /global_view, 405, method_not_allowed",
  })
  void shouldRefuseOtherMethods(String method, String path, int status, String reason)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(uri(0, path)).method(method, BodyPublishers.ofString("{}")).build();
    compare(
        client.send(request, BodyHandlers.ofString()), status, "{\"reason\":\"" + reason + "\"}");
  }

  /** A good registration with some members changed. */
  private String changed(String members) throws Exception {
    ObjectNode body = (ObjectNode) JSON.readTree(body(""));
    return body.setAll((ObjectNode) JSON.readTree(members)).toString();
  }

  private static void compare(HttpResponse<String> answer, int status, String wanted)
      throws Exception {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
    if (status == 200) {
      assertThat(answer.body()).isEqualTo(wanted);
      return;
    }
    JsonNode told = JSON.readTree(answer.body());
    assertThat(told.path("error").asText()).isNotBlank();
    for (Map.Entry<String, JsonNode> member : JSON.readTree(wanted).properties()) {
      assertThat(told.path(member.getKey())).as(member.getKey()).isEqualTo(member.getValue());
    }
  }
}
