// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.kvindex.launcher.kafka.KafkaProperties;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.ParseResult;

/** The manifests agree with each other, with the image and with the program. */
class KubernetesTest {

  private static final String DIRECTORY = "deploy/kubernetes/";
  private static final JsonNode KUSTOMIZATION =
      Checkout.yaml(DIRECTORY + "kustomization.yaml").get(0);

  private static final Map<String, String> KINDS =
      Map.of("bridge", "Deployment", "index", "StatefulSet");

  /** Not applied unless somebody wants it. */
  private static final String OPTIONAL = "network-policy.yaml";

  /** How long the program takes at most to close in order, and some time to be told. */
  private static final int CLOSE_SECONDS = 40;

  private static List<JsonNode> objects(String kind) {
    List<JsonNode> found = new ArrayList<>();
    for (String file : Checkout.texts(KUSTOMIZATION.path("resources"))) {
      for (JsonNode object : Checkout.yaml(DIRECTORY + file)) {
        if (object.path("kind").asText().equals(kind)) {
          found.add(object);
        }
      }
    }
    return found;
  }

  private static JsonNode object(String kind, String name) {
    return objects(kind).stream()
        .filter(object -> object.path("metadata").path("name").asText().equals(name))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + kind + " " + name));
  }

  private static JsonNode workload(String process) {
    return object(Objects.requireNonNull(KINDS.get(process)), "kvindex-" + process);
  }

  private static JsonNode template(String process) {
    return workload(process).path("spec").path("template");
  }

  private static JsonNode labels(String process) {
    return template(process).path("metadata").path("labels");
  }

  private static JsonNode pod(String process) {
    return template(process).path("spec");
  }

  private static JsonNode container(String process) {
    assertThat(pod(process).path("containers")).hasSize(1);
    return pod(process).path("containers").path(0);
  }

  private static ParseResult command(String process) {
    ParseResult command = Checkout.kvindex(Checkout.texts(container(process).path("args")));
    assertThat(command.commandSpec().name()).isEqualTo(process);
    return command;
  }

  private static Stream<JsonNode> stream(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false);
  }

  @Test
  void shouldApplyEveryManifest() throws IOException {
    try (Stream<Path> files = Files.list(Checkout.ROOT.resolve(DIRECTORY))) {
      assertThat(files.map(file -> String.valueOf(file.getFileName())))
          .containsExactlyInAnyOrderElementsOf(
              Stream.concat(
                      Checkout.texts(KUSTOMIZATION.path("resources")).stream(),
                      Stream.of("kustomization.yaml", "kafka-client.properties", OPTIONAL))
                  .toList());
    }
    assertThat(Checkout.text(DIRECTORY + "kustomization.yaml")).contains("  # - " + OPTIONAL);
    assertThat(objects("Namespace"))
        .extracting(object -> object.path("metadata").path("name").asText())
        .containsExactly(KUSTOMIZATION.path("namespace").asText());
  }

  @ParameterizedTest
  @ValueSource(strings = {"bridge", "index"})
  void shouldSayWhatTheProgramUnderstands(String process) {
    ParseResult command = command(process);
    JsonNode container = container(process);
    String image = container.path("image").asText();
    Checkout.assertPinned(image);
    assertThat(stream(KUSTOMIZATION.path("images")))
        .anySatisfy(
            known ->
                assertThat(image)
                    .isEqualTo(known.path("name").asText() + ":" + known.path("newTag").asText()));
    assertThat(Checkout.value(command, "--bind")).isEqualTo("0.0.0.0");
    assertThat(container.path("ports"))
        .singleElement()
        .satisfies(
            port -> {
              assertThat(port.path("name").asText()).isEqualTo("http");
              assertThat(port.path("containerPort").asText())
                  .isEqualTo(Checkout.value(command, "--http-port"));
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"bridge", "index"})
  void shouldProbeWhatIsServed(String process) {
    for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
      JsonNode get = container(process).path(probe).path("httpGet");
      assertThat(get.path("port").asText()).isEqualTo("http");
      assertThat(Checkout.paths(process)).contains(get.path("path").asText());
      assertThat(get.path("path").asText())
          .isEqualTo(probe.equals("readinessProbe") ? "/ready" : "/health");
    }
    JsonNode annotations = template(process).path("metadata").path("annotations");
    assertThat(Checkout.paths(process)).contains(annotations.path("prometheus.io/path").asText());
    assertThat(annotations.path("prometheus.io/port").asText())
        .isEqualTo(Checkout.value(command(process), "--http-port"));
  }

  @ParameterizedTest
  @CsvSource({"kvindex-bridge, bridge", "kvindex-index, index", "kvindex-index-peers, index"})
  void shouldReachItsPods(String service, String process) {
    JsonNode labels = labels(process);
    JsonNode spec = object("Service", service).path("spec");
    assertThat(spec.path("selector")).isEqualTo(labels);
    assertThat(spec.path("ports").path(0).path("port").asText())
        .isEqualTo(Checkout.value(command(process), "--http-port"));
    assertThat(spec.path("ports").path(0).path("targetPort").asText()).isEqualTo("http");
    assertThat(workload(process).path("spec").path("selector").path("matchLabels"))
        .isEqualTo(labels);
    JsonNode budget = object("PodDisruptionBudget", "kvindex-" + process).path("spec");
    assertThat(budget.path("selector").path("matchLabels")).isEqualTo(labels);
    assertThat(budget.path("maxUnavailable").asInt()).isEqualTo(1);
  }

  @Test
  void shouldLetIndexersReachEachOther() {
    String peers = workload("index").path("spec").path("serviceName").asText();
    JsonNode service = object("Service", peers).path("spec");
    assertThat(service.path("clusterIP").asText()).isEqualTo("None");
    assertThat(service.path("publishNotReadyAddresses").asBoolean()).isTrue();
    String port = Checkout.value(command("index"), "--http-port");
    assertThat(Checkout.value(command("index"), "--advertise"))
        .isEqualTo("$(POD_NAME)." + peers + ":" + port);
    assertThat(Checkout.value(command("index"), "--copy")).isEqualTo("$(POD_NAME)");
    assertVariable("index", "POD_NAME", "metadata.name");
  }

  @Test
  void shouldLetBridgesSeeWhichOfThemIsDead() {
    assertThat(Checkout.value(command("bridge"), "--advertise")).isEqualTo("$(POD_IP)");
    assertVariable("bridge", "POD_IP", "status.podIP");
  }

  @Test
  void shouldPutCopiesIntoOtherZones() {
    assertThat(stream(pod("index").path("topologySpreadConstraints")))
        .extracting(one -> one.path("topologyKey").asText())
        .contains("topology.kubernetes.io/zone");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bridge", "index"})
  void shouldLetOnlyItsOwnAndClientsIn_whereThatIsWanted(String process) {
    JsonNode policy = Checkout.yaml(DIRECTORY + OPTIONAL).get(0);
    assertThat(policy.path("kind").asText()).isEqualTo("NetworkPolicy");
    JsonNode own = policy.path("spec").path("podSelector").path("matchLabels");
    own.properties()
        .forEach(one -> assertThat(labels(process).get(one.getKey())).isEqualTo(one.getValue()));
    assertThat(Checkout.texts(policy.path("spec").path("policyTypes"))).containsExactly("Ingress");
    assertThat(policy.path("spec").path("ingress"))
        .singleElement()
        .satisfies(
            rule -> {
              assertThat(rule.path("from").path(0).path("podSelector").path("matchLabels"))
                  .isEqualTo(own);
              assertThat(rule.path("from").path(1).has("namespaceSelector")).isTrue();
              assertThat(rule.path("ports"))
                  .singleElement()
                  .isEqualTo(JsonNodeFactory.instance.objectNode().put("port", "http"));
            });
    assertThat(container(process).path("ports").path(0).path("name").asText()).isEqualTo("http");
  }

  private static void assertVariable(String process, String name, String field) {
    assertThat(stream(container(process).path("env")))
        .filteredOn(variable -> variable.path("name").asText().equals(name))
        .singleElement()
        .satisfies(
            variable ->
                assertThat(variable.path("valueFrom").path("fieldRef").path("fieldPath").asText())
                    .isEqualTo(field));
  }

  @ParameterizedTest
  @ValueSource(strings = {"bridge", "index"})
  void shouldMountWhatIsThere(String process) {
    List<String> volumes = new ArrayList<>();
    pod(process).path("volumes").forEach(volume -> volumes.add(volume.path("name").asText()));
    workload(process)
        .path("spec")
        .path("volumeClaimTemplates")
        .forEach(claim -> volumes.add(claim.path("metadata").path("name").asText()));
    List<String> mounted = new ArrayList<>();
    List<String> paths = new ArrayList<>();
    for (JsonNode mount : container(process).path("volumeMounts")) {
      mounted.add(mount.path("name").asText());
      paths.add(mount.path("mountPath").asText());
    }
    assertThat(mounted).containsExactlyInAnyOrderElementsOf(volumes);
    assertThat(paths).contains("/tmp");
    if (!process.equals("bridge")) {
      assertThat(paths).contains(Checkout.value(command(process), "--data-dir"));
    }
    Path config = Path.of(Checkout.value(command(process), "--kafka-config"));
    assertThat(paths).contains(String.valueOf(config.getParent()));
    assertThat(stream(pod(process).path("volumes")))
        .anySatisfy(
            volume -> {
              JsonNode secret = KUSTOMIZATION.path("secretGenerator").path(0);
              assertThat(volume.path("secret").path("secretName").asText())
                  .isEqualTo(secret.path("name").asText());
              assertThat(secret.path("files").path(0).asText())
                  .startsWith(config.getFileName() + "=");
            });
  }

  @Test
  void shouldGiveKafkaClientsSettingsThatCanBeUsed() {
    String file =
        KUSTOMIZATION.path("secretGenerator").path(0).path("files").path(0).asText().split("=")[1];
    assertThat(
            KafkaProperties.read(
                null, Checkout.ROOT.resolve(DIRECTORY + file), Map.of(), List.of()))
        .containsKey("bootstrap.servers");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bridge", "index"})
  void shouldNeedNoPrivileges(String process) {
    String[] user =
        Checkout.text("Dockerfile").replaceAll("(?s).*\\nUSER (\\S+).*", "$1").split(":");
    JsonNode security = pod(process).path("securityContext");
    assertThat(security.path("runAsNonRoot").asBoolean()).isTrue();
    assertThat(security.path("runAsUser").asText()).isEqualTo(user[0]);
    assertThat(security.path("fsGroup").asText()).isEqualTo(user[1]);
    JsonNode own = container(process).path("securityContext");
    assertThat(own.path("allowPrivilegeEscalation").asBoolean(true)).isFalse();
    assertThat(own.path("readOnlyRootFilesystem").asBoolean()).isTrue();
    assertThat(Checkout.texts(own.path("capabilities").path("drop"))).containsExactly("ALL");
    JsonNode resources = container(process).path("resources");
    assertThat(resources.path("requests").has("cpu")).isTrue();
    assertThat(resources.path("limits").path("memory"))
        .isEqualTo(resources.path("requests").path("memory"));
    assertThat(resources.path("limits").path("memory").asText()).endsWith("Gi");
    String drain = process.equals("index") ? Checkout.value(command(process), "--drain") : "0";
    assertThat(pod(process).path("terminationGracePeriodSeconds").asInt())
        .isGreaterThan(CLOSE_SECONDS + Integer.parseInt(drain));
  }
}
