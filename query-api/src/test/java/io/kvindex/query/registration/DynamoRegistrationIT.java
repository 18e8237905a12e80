// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /register} and {@code /unregister} as Dynamo's clients use them. */
class DynamoRegistrationIT extends RegistrationFixture {

  private static final String OK = "{\"status\":\"ok\"}";

  /** A number of this test's own; also part of its model's name. */
  private String id() {
    return Integer.toString(instance.hashCode() & Integer.MAX_VALUE);
  }

  private String theirs(String more) {
    return "{\"instance_id\":"
        + id()
        + ",\"endpoint\":\"tcp://127.0.0.1:5557\",\"model_name\":\"m-"
        + instance
        + "\",\"block_size\":16"
        + more
        + "}";
  }

  private void created(String more) throws Exception {
    HttpResponse<String> answer = post(0, "/register", theirs(more));
    assertThat(answer.body()).isEqualTo(OK);
    assertThat(answer.statusCode()).isEqualTo(201);
  }

  private void answers(String path, String body, int status, String text) throws Exception {
    HttpResponse<String> answer = post(1, path, body);
    assertThat(answer.body()).contains(text.replace("{id}", id()).replace("{m}", "m-" + instance));
    assertThat(answer.statusCode()).isEqualTo(status);
  }

  @Override
  List<JsonNode> services(int replica) throws Exception {
    String name = instance;
    instance = id();
    try {
      return super.services(replica);
    } finally {
      instance = name;
    }
  }

  @Test
  void shouldKeepTheNumberInDecimal_whenRegistered() throws Exception {
    created(",\"replay_endpoint\":\"tcp://127.0.0.1:5560\",\"additional_salt\":\"x\"");
    JsonNode service = service(0);
    assertThat(service.path("InstanceID").asText()).isEqualTo(id());
    assertThat(service.path("HashProfile").toString())
        .isEqualTo("{\"algorithm\":\"xxh3_dynamo\",\"seed\":\"1337\"}");
    assertThat(service.path("Type").asText()).isEqualTo("vLLM");
    assertThat(service.path("ReplayEndpoint").asText()).isEqualTo("tcp://127.0.0.1:5560");
    assertThat(service.path("AdditionalSalt").asText()).isEmpty();
    assertThat(service.path("TenantID").asText()).isEqualTo("default");
  }

  @Test
  void shouldRefuseInTheirWords_whenSomethingIsThereAlready() throws Exception {
    created("");
    answers("/register", theirs(""), 409, "instance {id} dp_rank 0 already registered");
    answers(
        "/register",
        theirs("").replace("\"m-", "\"other-"),
        409,
        "instance {id} is already registered for model={m} routing_group=default");
    String other = theirs(",\"dp_rank\":1").replace(":16", ":32");
    answers(
        "/register",
        other,
        409,
        "block_size mismatch for model={m} routing_group=default: existing=16, requested=32");
    created(",\"dp_rank\":1");
    created(",\"routing_group\":\"b\"");
    assertThat(services(0)).hasSize(3);
  }

  @Test
  void shouldBeginANewGeneration_whenRegisteredAgain() throws Exception {
    created("");
    long first = service(0).path("Generation").asLong();
    answers("/unregister", theirs(""), 200, OK);
    created("");
    assertThat(service(0).path("Generation").asLong()).isGreaterThan(first);
    long second = service(0).path("Generation").asLong();
    String moved = theirs(",\"replace\":true").replace("5557", "5558");
    answers("/register", moved, 201, OK);
    assertThat(service(1).path("Generation").asLong()).isGreaterThan(second); // the one it asked
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"dp_rank\":1"})
  void shouldRemoveFromAllGroups_whenNoneIsNamed(String rank) throws Exception {
    for (String group : List.of("", ",\"tenant_id\":\"b\"")) {
      created(group);
      created(group + ",\"dp_rank\":1");
    }
    answers("/unregister", theirs(rank), 200, OK);
    assertThat(services(1)).hasSize(rank.isEmpty() ? 0 : 2);
    assertThat(services(1)).allMatch(one -> one.path("DPRank").asInt() == 0);
  }

  @Test
  void shouldRemoveOnlyThere_whenGroupIsNamed() throws Exception {
    created("");
    created(",\"routing_group\":\"b\"");
    created(",\"routing_group\":\"b\",\"dp_rank\":1");
    answers("/unregister", theirs(",\"routing_group\":\"b\",\"dp_rank\":0"), 200, OK);
    assertThat(services(1)).hasSize(2);
    answers(
        "/unregister",
        theirs(",\"tenant_id\":\"b\",\"dp_rank\":7"),
        404,
        "instance {id} dp_rank 7 not found");
    answers(
        "/unregister",
        theirs(",\"tenant_id\":\"c\""),
        404,
        "instance {id} is registered for model={m} routing_group=");
    answers("/unregister", theirs(",\"tenant_id\":\"b\""), 200, OK);
    answers("/unregister", theirs(""), 200, OK);
    answers("/unregister", theirs(""), 404, "instance {id} not found");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"x"}               ~ 400 ~ invalid ZMQ endpoint `x`:
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":""}                ~ 400 ~ invalid ZMQ endpoint ``:
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"tcp://h"}         ~ 400 ~ invalid ZMQ endpoint `tcp://h`:
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"tcp://:1"}        ~ 400 ~ invalid ZMQ endpoint `tcp://:1`:
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"tcp://::1:5"}     ~ 400 ~ invalid ZMQ endpoint `tcp://::1:5`:
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"tcp://h:65536"}   ~ 400 ~ invalid ZMQ endpoint `tcp://h:65536`:
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"tcp://h:0"}       ~ 400 ~ the port must be 1 to 65535
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"ipc:///tmp/x"}    ~ 400 ~ tcp://127.0.0.1:PORT
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"inproc://events"} ~ 400 ~ tcp://127.0.0.1:PORT
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"udp://h:1"}       ~ 400 ~ invalid ZMQ endpoint `udp://h:1`:
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"tcp://h:1","replay_endpoint":"y"} ~ 400 ~ invalid replay endpoint `y`:
          {"instance_id":1,"model_name":"m","block_size":4}                              ~ 422 ~ "field":"endpoint"
          {"instance_id":1,"model_name":"m","endpoint":"tcp://h:1"}                      ~ 422 ~ "field":"block_size"
          {"instance_id":1,"model_name":"m","block_size":"4","endpoint":"tcp://h:1"}     ~ 422 ~ "reason":"invalid_type"
          {"instance_id":1,"model_name":"m","block_size":0,"endpoint":"tcp://h:1"}       ~ 422 ~ "reason":"out_of_range"
          {"instance_id":1,"block_size":4,"endpoint":"tcp://h:1"}                        ~ 422 ~ "field":"model_name"
          {"model_name":"m","block_size":4,"endpoint":"tcp://h:1"}                       ~ 422 ~ "field":"instance_id"
          {"instance_id":-1,"model_name":"m","block_size":4,"endpoint":"tcp://h:1"}      ~ 422 ~ "field":"instance_id"
          {"instance_id":18446744073709551616,"model_name":"m","block_size":4,"endpoint":"tcp://h:1"} ~ 422 ~ "field":"instance_id"
          {"instance_id":1.5,"model_name":"m","block_size":4,"endpoint":"tcp://h:1"}     ~ 422 ~ "field":"instance_id"
          {"instance_id":1,"model_name":"m","block_size":1048577,"endpoint":"tcp://h:1"} ~ 422 ~ "field":"block_size"
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"tcp://h:1","dp_rank":2147483648} ~ 422 ~ "field":"dp_rank"
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"tcp://h:1","dp_rank":-1} ~ 422 ~ "field":"dp_rank"
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"tcp://h:1","additional_salt":1} ~ 422 ~ "field":"additional_salt"
          {"instance_id":1,"model_name":"m","model":"m","block_size":4,"endpoint":"tcp://h:1"} ~ 400 ~ not both
          {"instance_id":1,"model_name":"m","block_size":4,"endpoint":"tcp://h:1","routing_group":"a","tenant_id":"b"} ~ 400 ~ "field":"tenant_id"
          {"instance_id":1,"model_name":"m"                                              ~ 400 ~ "reason":"invalid_json"
          """)
  void shouldRefuseAsTheirs_whenTheBodyIs(String body, int status, String text) throws Exception {
    answers("/register", body, status, text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "tcp://*:5557",
        "tcp://[::1]:5557",
        "tcp://0.0.0.0:5557",
      })
  void shouldTakeTheEndpoint_whenTheirsDoes(String endpoint) throws Exception {
    answers("/register", theirs("").replace("tcp://127.0.0.1:5557", endpoint), 201, OK);
    answers("/unregister", theirs(""), 200, OK);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"dp_rank\":null",
        "\"dp_rank\":3",
        "\"replay_endpoint\":null",
        "\"replay_endpoint\":\"tcp://127.0.0.1:5560\"",
        "\"routing_group\":\"g\"",
        "\"tenant_id\":\"g\"",
        "\"additional_salt\":\"x\"",
        "\"additionalsalt\":\"x\"",
        "\"nobody knows\":[1]"
      })
  void shouldTakeTheMember_whenTheirsDoes(String member) throws Exception {
    created("," + member);
    JsonNode service = service(0);
    assertThat(service.path("DPRank").asInt()).isEqualTo(member.endsWith("3") ? 3 : 0);
    assertThat(service.path("TenantID").asText())
        .isEqualTo(member.endsWith("\"g\"") ? "g" : "default");
    assertThat(service.path("AdditionalSalt").asText()).isEmpty();
    answers("/unregister", theirs("," + member), 200, OK);
  }

  @Test
  void shouldKeepTheLargestNumber_whenInstanceIsU64() throws Exception {
    String id = "18446744073709551615";
    String body = theirs("").replace(id(), id);
    answers("/register", body, 201, OK);
    assertThat(post(0, "/register", body).body())
        .contains("instance " + id + " dp_rank 0 already registered");
    answers("/unregister", body, 200, OK);
  }

  @Test
  void shouldTakeAName_whenInstanceIsNoNumber() throws Exception {
    String body =
        theirs(",\"dp_rank\":2147483647").replace(":" + id() + ",", ":\"pod-" + id() + "\",");
    answers("/register", body, 201, OK);
    answers("/unregister", body, 200, OK);
  }
}
