// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.ParseResult;

/** docker-compose.yml agrees with itself, with the program and with Kafka. */
class ComposeTest {

  private static final JsonNode FILE = Checkout.yaml("docker-compose.yml").get(0);
  private static final JsonNode SERVICES = FILE.path("services");

  private static Map<String, JsonNode> services(String prefix) {
    Map<String, JsonNode> found = new LinkedHashMap<>();
    SERVICES
        .fields()
        .forEachRemaining(
            service -> {
              if (service.getKey().startsWith(prefix)) {
                found.put(service.getKey(), service.getValue());
              }
            });
    return found;
  }

  @Test
  void shouldBeAWholeSite() {
    assertThat(services("kafka-")).hasSize(3);
    assertThat(services("bridge-")).hasSize(2);
    assertThat(services("index-")).hasSize(3);
    services("").forEach((name, service) -> Checkout.assertPinned(service.path("image").asText()));
  }

  /** Docker builds all services at once, and the second image of a name may fail. */
  @Test
  void shouldBuildTheImageOnce() {
    List<String> built = new ArrayList<>();
    Set<String> images = new TreeSet<>();
    for (String kind : List.of("bridge-", "index-")) {
      services(kind)
          .forEach(
              (name, service) -> {
                images.add(service.path("image").asText());
                if (service.has("build")) {
                  built.add(name);
                }
              });
    }
    assertThat(images).as("all run what is built").hasSize(1);
    assertThat(built).hasSize(1);
  }

  @Test
  void shouldSayWhatTheProgramUnderstands() {
    for (String kind : List.of("bridge", "index")) {
      services(kind + "-")
          .forEach(
              (name, service) -> {
                ParseResult command = Checkout.kvindex(Checkout.texts(service.path("command")));
                assertThat(command.commandSpec().name()).isEqualTo(kind);
                assertThat(Checkout.value(command, "--replication")).isEqualTo("3");
                assertThat(Checkout.value(command, "--bind")).isEqualTo("0.0.0.0");
                String port = Checkout.value(command, "--http-port");
                assertThat(Checkout.texts(service.path("healthcheck").path("test")))
                    .startsWith("CMD", "/opt/kvindex/deploy/probe.sh", port)
                    .last()
                    .satisfies(path -> assertThat(Checkout.paths(kind)).contains(path));
                for (String server :
                    service.path("environment").path("KVINDEX_KAFKA").asText().split(",")) {
                  assertThat(listeners(server.split(":")[0])).contains(":" + server.split(":")[1]);
                }
              });
    }
  }

  @Test
  void shouldGiveEachIndexerAnAddressOfItsOwn() {
    Set<String> published = new TreeSet<>();
    services("index-")
        .forEach(
            (name, service) -> {
              ParseResult command = Checkout.kvindex(Checkout.texts(service.path("command")));
              String port = Checkout.value(command, "--http-port");
              assertThat(Checkout.value(command, "--advertise")).isEqualTo(name + ":" + port);
              assertThat(Checkout.value(command, "--copy")).isEqualTo(name);
              String address = service.path("ports").path(0).asText();
              // No authentication: this machine's only.
              assertThat(address).startsWith("127.0.0.1:").endsWith(":" + port);
              assertThat(published.add(address)).isTrue();
            });
  }

  @Test
  void shouldNameOnlyWhatIsThere() {
    Set<String> used = new TreeSet<>();
    services("")
        .forEach(
            (name, service) -> {
              service
                  .path("depends_on")
                  .fieldNames()
                  .forEachRemaining(other -> assertThat(SERVICES.has(other)).isTrue());
              for (String volume : Checkout.texts(service.path("volumes"))) {
                assertThat(used.add(volume.split(":")[0])).as("its own volume").isTrue();
              }
              assertThat(service.path("healthcheck").path("test")).isNotEmpty();
            });
    Set<String> declared = new TreeSet<>();
    FILE.path("volumes").fieldNames().forEachRemaining(declared::add);
    assertThat(used).isEqualTo(declared).hasSize(6);
    services("index-")
        .forEach(
            (name, service) ->
                assertThat(service.path("volumes").path(0).asText())
                    .as("where the image keeps data")
                    .endsWith(":" + imageDataDirectory()));
  }

  private static String imageDataDirectory() {
    return Checkout.text("Dockerfile").replaceAll("(?s).*KVINDEX_DATA_DIR=(\\S+).*", "$1");
  }

  @Test
  void shouldConfigureKafkaAsKafkaItselfReadsIt() {
    Set<String> voters = new TreeSet<>();
    List<Integer> nodes = new ArrayList<>();
    Set<String> clusters = new TreeSet<>();
    services("kafka-")
        .forEach(
            (name, service) -> {
              Map<String, String> settings = kafkaSettings(service);
              KafkaConfig config = new KafkaConfig(settings, false);
              assertThat(KafkaConfig.configDef().names())
                  .as("a name Kafka does not know is passed over in silence")
                  .containsAll(settings.keySet());
              nodes.add(config.nodeId());
              voters.add(settings.getOrDefault("controller.quorum.voters", ""));
              assertThat(settings.get("controller.quorum.voters"))
                  .contains(config.nodeId() + "@" + name + ":");
              assertThat(settings.get("advertised.listeners")).contains("//" + name + ":");
              assertThat(settings)
                  .containsEntry("default.replication.factor", "3")
                  .containsEntry("offsets.topic.replication.factor", "3")
                  .containsEntry("min.insync.replicas", "2");
              assertThat(service.path("volumes").path(0).asText())
                  .endsWith(":" + settings.get("log.dirs"));
              clusters.add(service.path("environment").path("CLUSTER_ID").asText());
            });
    assertThat(nodes).containsExactly(1, 2, 3);
    assertThat(voters).as("the same at all nodes").hasSize(1);
    assertThat(clusters)
        .singleElement()
        .satisfies(id -> assertThat(Uuid.fromString(id)).hasToString(id));
  }

  /** As the image makes them of its environment. */
  private static Map<String, String> kafkaSettings(JsonNode service) {
    Map<String, String> settings = new LinkedHashMap<>();
    service
        .path("environment")
        .fields()
        .forEachRemaining(
            variable -> {
              String name = variable.getKey();
              if (name.startsWith("KAFKA_") && !name.equals("KAFKA_HEAP_OPTS")) {
                settings.put(
                    name.substring("KAFKA_".length()).toLowerCase(Locale.ROOT).replace('_', '.'),
                    variable.getValue().asText());
              }
            });
    return settings;
  }

  private static String listeners(String service) {
    return SERVICES.path(service).path("environment").path("KAFKA_LISTENERS").asText();
  }
}
