// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;

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
}
