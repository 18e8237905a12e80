// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConductorConfigTest {

  @TempDir private Path directory;

  private Path file(String text) throws IOException {
    return Files.writeString(directory.resolve("conductor_config.json"), text);
  }

  @Test
  void shouldNameTheInstanceAfterItsEntry_whenItHasNoIdOfItsOwn() throws IOException {
    Path path =
        file(
            """
            {"http_server_port": 8088, "kvevent_instance": {
              "vllm-1": {"endpoint": "tcp://127.0.0.1:5557", "type": "vLLM"},
              "empty": {"instance_id": ""}, "null": {"instance_id": null},
              "other": {"instance_id": "vllm-2", "endpoint": "tcp://127.0.0.1:5559"}}}
            """);
    ConductorConfig config = ConductorConfig.find(path, Map.of());
    assertThat(config.httpPort()).isEqualTo(8088);
    assertThat(config.registrations())
        .extracting(r -> r.body().get("instance_id").asText())
        .containsExactly("vllm-1", "empty", "null", "vllm-2");
  }

  @Test
  void shouldUseTheEnvironment_whenNoFlagIsGiven() throws IOException {
    Path path = file("{\"http_server_port\": 1}");
    assertThat(
            ConductorConfig.find(null, Map.of("CONDUCTOR_CONFIG_PATH", path.toString())).httpPort())
        .isEqualTo(1);
    Path absent = directory.resolve("absent.json");
    assertThat(ConductorConfig.find(null, Map.of("CONDUCTOR_CONFIG_PATH", absent.toString())))
        .isEqualTo(ConductorConfig.NONE);
  }

  @Test
  void shouldListenOnTheDefaultPort_whenTheFileNamesNone() throws IOException {
    assertThat(ConductorConfig.find(file("{}"), Map.of())).isEqualTo(ConductorConfig.NONE);
    assertThat(ConductorConfig.NONE.httpPort()).isEqualTo(13333);
    Path nulls = file("{\"http_server_port\":null,\"kvevent_instance\":null}");
    assertThat(ConductorConfig.find(nulls, Map.of())).isEqualTo(ConductorConfig.NONE);
  }

  @Test
  void shouldSkipAnEntry_whenItIsNoObject() throws IOException {
    Path path = file("{\"kvevent_instance\":{\"a\":1,\"b\":{},\"c\":[]}}");
    assertThat(ConductorConfig.find(path, Map.of()).registrations())
        .extracting(ConductorConfig.Entry::name)
        .containsExactly("b");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{;can not be read as JSON",
        "[];must hold a JSON object",
        "{\"http_server_port\":\"x\"};http_server_port must be 0..65535, got \"x\"",
        "{\"http_server_port\":70000};http_server_port must be 0..65535, got 70000",
        "{\"http_server_port\":13333.5};http_server_port must be 0..65535, got 13333.5",
        "{\"kvevent_instance\":[]};kvevent_instance must be an object"
      })
  void shouldSayWhatIsWrong_whenTheFileIsNoConfiguration(String text, String message)
      throws IOException {
    Path path = file(text);
    assertThatThrownBy(() -> ConductorConfig.find(path, Map.of()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(path.toString())
        .hasMessageContaining(message);
  }

  @Test
  void shouldFail_whenTheFlagNamesNoFile() {
    Path absent = directory.resolve("absent.json");
    assertThatThrownBy(() -> ConductorConfig.find(absent, Map.of()))
        .hasMessageContaining("absent.json");
  }
}
