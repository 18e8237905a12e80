// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.launcher.process.ConductorConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What Mooncake Conductor's configuration file does to registrations, start by start. */
@Tag("broker")
class StaticConfigurationIT {

  @TempDir private Path directory;

  @Test
  @Timeout(180)
  void shouldUpsertAtEachStartAndRemoveNothing_whenTheFileChanges() throws Exception {
    Map<String, JsonNode> before =
        servicesAfterStart(
            entry("kept", ""),
            "\"bad\":{\"endpoint\":\"bogus\"}",
            "\"worse\":7",
            entry("moved", ",\"replay_endpoint\":\"tcp://127.0.0.1:10\""),
            entry("dropped", ",\"instance_id\":\"named\",\"additionalsalt\":\"w8a8\""));
    assertThat(before).containsOnlyKeys("kept/", "moved/", "named/");
    assertThat(at(before, "named/").path("AdditionalSalt").asText()).isEqualTo("w8a8");

    Map<String, JsonNode> after =
        servicesAfterStart(
            entry("kept", ""),
            entry("second", ",\"instance_id\":\"kept\",\"lora_name\":\"sql\""),
            entry("third", ",\"instance_id\":\"kept\",\"replay_endpoint\":\"tcp://127.0.0.1:11\""),
            entry("moved", ",\"replay_endpoint\":\"tcp://127.0.0.1:12\""),
            entry("new", ",\"tenant_id\":\"acme\""));
    assertThat(after).containsOnlyKeys("kept/", "kept/sql", "moved/", "named/", "new/");
    assertThat(at(after, "named/")).isEqualTo(at(before, "named/"));
    assertThat(at(after, "kept/")).isEqualTo(at(before, "kept/"));
    assertThat(at(after, "kept/sql").path("Generation"))
        .isEqualTo(at(before, "kept/").path("Generation"));
    assertThat(at(after, "moved/").path("ReplayEndpoint").asText()).isEqualTo("tcp://127.0.0.1:12");
    assertThat(at(after, "moved/").path("Generation").asLong())
        .isGreaterThan(at(before, "moved/").path("Generation").asLong());
    assertThat(at(after, "new/").path("TenantID").asText()).isEqualTo("acme");
  }

  private static JsonNode at(Map<String, JsonNode> services, String name) {
    return Objects.requireNonNull(services.get(name), name);
  }

  private static String entry(String name, String more) {
    return "\""
        + name
        + "\":{\"endpoint\":\"tcp://127.0.0.1:9\",\"type\":\"vLLM\",\"modelname\":\"m\","
        + "\"block_size\":16,\"dp_rank\":0"
        + more
        + "}";
  }

  /** Registrations by instance and adapter, once a server has started with these entries. */
  private Map<String, JsonNode> servicesAfterStart(String... entries) throws Exception {
    AllInOneOptions options = options(String.join(",", entries));
    Map<String, JsonNode> services = new TreeMap<>();
    try (AllInOne server = AllInOne.start(options)) {
      for (JsonNode one : new Api(server.uri()).get("/services").path("services")) {
        services.put(one.path("InstanceID").asText() + "/" + one.path("LoraName").asText(), one);
      }
    }
    return services;
  }

  private AllInOneOptions options(String entries) throws IOException {
    Path file = directory.resolve("conductor_config.json");
    Files.writeString(file, "{\"http_server_port\":0,\"kvevent_instance\":{" + entries + "}}");
    ConductorConfig config = ConductorConfig.find(file, Map.of());
    AllInOneOptions standard = AllInOneOptions.in(directory.resolve("data"));
    return new AllInOneOptions(
        standard.dataDir(),
        standard.bind(),
        config.httpPort(),
        config,
        standard.defaultProfile(),
        standard.rawQuarantine(),
        standard.gapPolicy(),
        standard.traceOneIn());
  }
}
