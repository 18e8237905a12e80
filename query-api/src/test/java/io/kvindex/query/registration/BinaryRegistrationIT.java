// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.packed.Packed;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Source: Mooncake Conductor, C++ server, cases of {@code POST /register}, {@code /unregister}. */
class BinaryRegistrationIT extends RegistrationFixture {
  private static final String TYPE = "application/msgpack";

  private Map<String, @Nullable Object> whole() {
    Map<String, @Nullable Object> members = BinaryFieldsTest.whole(instance);
    members.put("modelname", "m-" + instance);
    return members;
  }

  private HttpResponse<byte[]> send(int replica, String path, Map<String, @Nullable Object> body)
      throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(uri(replica, path))
            .header("Content-Type", TYPE)
            .POST(BodyPublishers.ofByteArray(Packed.of(body)))
            .build();
    return client.send(request, BodyHandlers.ofByteArray());
  }

  private static void answers(HttpResponse<byte[]> answer, int status, String start) {
    assertThat(Packed.json(answer.body())).startsWith(start);
    assertThat(answer.statusCode()).isEqualTo(status);
    assertThat(answer.headers().firstValue("content-type")).hasValue(TYPE);
  }

  @Test
  void shouldRegisterOnceAndUnregister_whenBodiesAreMsgpack() throws Exception {
    String success =
        "{\"status\":\"registered successfully\",\"instance_id\":\"" + instance + "\"}";
    answers(send(0, "/register", whole()), 200, success);
    long generation = service(0).path("Generation").asLong();
    answers(send(1, "/register", whole()), 200, success);
    assertThat(service(0).path("Generation").asLong()).isEqualTo(generation);
    Map<String, @Nullable Object> end =
        Packed.members("instance_id", instance, "dp_rank", 0, "tenant_id", "");
    String key = instance + "|default|0";
    answers(
        send(0, "/unregister", end),
        200,
        "{\"status\":\"unregistered successfully\",\"removed_instances\":[\"" + key + "\"]}");
    answers(
        send(0, "/unregister", end),
        404,
        "{\"error\":\"service not found: " + key + "\",\"reason\":\"service_not_found\"}");
    // There is no state between: the context is gone, and what was unregistered can come back.
    assertThat(list("/global_view")).doesNotContain("m-" + instance + "\"");
    answers(send(0, "/register", whole()), 200, success);
    assertThat(service(0).path("Generation").asLong()).isGreaterThan(generation);
    assertThat(list("/global_view")).contains("m-" + instance + "\"");
  }

  @Test
  void shouldSayConflicting_whenTheServiceKeyIsTaken() throws Exception {
    send(0, "/register", whole());
    Map<String, @Nullable Object> other = whole();
    other.put("endpoint", "tcp://10.0.0.2:5557");
    HttpResponse<byte[]> answer = send(1, "/register", other);
    answers(
        answer,
        400,
        "{\"error\":\"conflicting registration for service key: " + instance + "|default|0");
    assertThat(Packed.json(answer.body()))
        .endsWith("\"reason\":\"invalid_registration\",\"field\":\"endpoint\"}");
  }

  @Test
  void shouldSayConflicting_whenTheContextHasAnotherHashProfile() throws Exception {
    send(0, "/register", whole());
    Map<String, @Nullable Object> other = whole();
    Map<String, @Nullable Object> profile = BinaryFieldsTest.profile();
    profile.put("python_hash_seed", "0");
    other.put("hash_profile", profile);
    other.put("instance_id", "other-" + instance);
    HttpResponse<byte[]> answer = send(1, "/register", other);
    assertThat(answer.statusCode()).isEqualTo(400);
    assertThat(Packed.json(answer.body()))
        .contains("registration conflicts with the ContextKey hash profile")
        .contains("\"reason\":\"invalid_registration\"");
  }

  @Test
  void shouldFollowBoth_whenTwoRanksShareAnEndpoint() throws Exception {
    send(0, "/register", whole());
    Map<String, @Nullable Object> second = whole();
    second.put("dp_rank", 1);
    assertThat(send(0, "/register", second).statusCode()).isEqualTo(200);
    assertThat(services(0)).hasSize(2);
  }

  @Test
  void shouldListServicesAndContexts_whenAcceptSaysMsgpack() throws Exception {
    send(0, "/register", whole());
    String profile = "\"python_hash_seed\":\"00\",\"root_digest\":\"";
    assertThat(list("/services"))
        .startsWith("{\"count\":")
        .contains("\"InstanceID\":\"" + instance + "\",\"BlockSize\":16,\"DPRank\":0")
        .contains(
            "\"HashProfile\":{\"strategy\":\"vllm_v1\",\"algorithm\":\"sha256_cbor\"," + profile)
        .contains("\"CacheGroup\":null");
    assertThat(list("/global_view"))
        .startsWith("{\"context_count\":")
        .contains("\"model_name\":\"m-" + instance + "\"")
        .contains("\"instances\":{\"" + instance + "\":[0]}");
  }

  private String list(String path) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(uri(0, path)).header("Accept", TYPE).build();
    HttpResponse<byte[]> answer = client.send(request, BodyHandlers.ofByteArray());
    assertThat(answer.headers().firstValue("content-type")).hasValue(TYPE);
    return Packed.json(answer.body());
  }
}
