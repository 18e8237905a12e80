// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.Main;
import io.kvindex.sandbox.broker.BrokerOptions;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * A broker that clients reach over TLS only, with user and password, and bridge and indexer with
 * the example file of the documentation.
 */
@Tag("broker")
class SecuredKafkaIT {

  private static final String MECHANISM = "SCRAM-SHA-512";
  private static final String PASSWORD = "correct-horse";
  private static final Duration SOON = Duration.ofSeconds(60);

  @TempDir private Path directory;

  @Test
  @Timeout(240)
  void shouldShowEvents_whenAllClientsProveWhoTheyAre() throws Exception {
    Certificate certificate = Certificate.create(directory, "of-the-keystore");
    try (EmbeddedBroker broker = secured(certificate)) {
      String file = clientFile("right", broker, certificate.authority(), PASSWORD).toString();
      assertRefused(broker, certificate);
      try (ChildProcess bridge =
              new ChildProcess(
                  "bridge",
                  directory,
                  List.of("-Xmx256m"),
                  List.of("bridge", "--http-port", "0", "--kafka-config", file));
          ServerProcess index =
              ServerProcess.index(
                  "index",
                  directory,
                  broker.bootstrapServers(),
                  Map.of("KVINDEX_KAFKA_CONFIG", file));
          SimulatedEngine engine = EngineOptions.vllm("e").gpuBlocks(100).start();
          WirePublisher broken = new WirePublisher(0)) {
        index.awaitReady();
        index.api().register(engine, "default");
        index.api().post("/register", registration(broken));
        engine.prefill(new int[64], null, null);
        engine.flush();
        await().atMost(SOON).until(() -> index.api().visible("e") >= engine.lastSequence());
        broken.awaitSubscriber();
        assertQuarantine(index.api(), broken);
        bridge.requireAlive();
        for (String log : List.of("bridge.log", "index.log")) {
          assertThat(directory.resolve(log)).content().doesNotContain(PASSWORD);
        }
      }
    }
  }

  /** The broker's own traffic keeps to a listener that clients are not told of. */
  private EmbeddedBroker secured(Certificate certificate) throws Exception {
    int clients = freePort();
    int own = freePort();
    int controller = freePort();
    String advertised = "SECURED://127.0.0.1:" + clients + ",PLAINTEXT://127.0.0.1:" + own;
    Map<String, String> settings = new HashMap<>();
    settings.put("controller.quorum.voters", "1@127.0.0.1:" + controller);
    settings.put("advertised.listeners", advertised);
    settings.put("listeners", advertised + ",CONTROLLER://127.0.0.1:" + controller);
    settings.put(
        "listener.security.protocol.map",
        "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SECURED:SASL_SSL");
    Map.of(
            "ssl.keystore.type",
            "PKCS12",
            "ssl.keystore.location",
            certificate.keystore().toString(),
            "ssl.keystore.password",
            certificate.password(),
            "ssl.key.password",
            certificate.password(),
            "sasl.enabled.mechanisms",
            MECHANISM,
            MECHANISM.toLowerCase(Locale.ROOT) + ".sasl.jaas.config",
            "org.apache.kafka.common.security.scram.ScramLoginModule required;")
        .forEach((name, value) -> settings.put("listener.name.secured." + name, value));
    EmbeddedBroker broker =
        EmbeddedBroker.start(
            new BrokerOptions(directory.resolve("broker"), "127.0.0.1", clients, null, settings));
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", "127.0.0.1:" + own))) {
      ScramCredentialInfo how = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4_096);
      admin
          .alterUserScramCredentials(
              List.of(new UserScramCredentialUpsertion("kvindex", how, PASSWORD)))
          .all()
          .get();
    }
    return broker;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /** The documentation's example with what every site has to fill in. */
  private Path clientFile(String name, EmbeddedBroker broker, Path authority, String password)
      throws IOException {
    String example = Files.readString(Path.of("../deploy/kafka-client.properties.example"));
    String filled =
        example
            .replaceFirst(
                "(?m)^bootstrap.servers=.*$", "bootstrap.servers=" + broker.bootstrapServers())
            .replace("CHANGE-ME", password)
            .replace("/etc/kvindex/kafka-ca.pem", authority.toString());
    assertThat(filled).contains("=" + MECHANISM);
    return Files.writeString(directory.resolve(name + ".properties"), filled);
  }

  /** One line each, which says what to do and not what the password is. */
  private void assertRefused(EmbeddedBroker broker, Certificate certificate) throws Exception {
    Path wrong = clientFile("wrong", broker, certificate.authority(), "battery-staple");
    assertThat(said("bridge", "--kafka-config", wrong.toString(), "--http-port", "0"))
        .contains(broker.bootstrapServers(), "Authentication failed", "check user and password")
        .doesNotContain("battery-staple")
        .hasLineCount(1);
    Certificate other = Certificate.create(Files.createDirectory(directory.resolve("o")), "of-it-");
    Path distrusting = clientFile("distrusting", broker, other.authority(), PASSWORD);
    String data = directory.resolve("distrusting").toString();
    String config = distrusting.toString();
    assertThat(said("index", "--kafka-config", config, "--http-port", "0", "--data-dir", data))
        .contains("unable to find valid certification path", "check ssl.truststore")
        .doesNotContain(PASSWORD)
        .hasLineCount(1);
  }

  private static String said(String... command) {
    CommandLine commandLine = Main.commandLine();
    StringWriter err = new StringWriter();
    commandLine.setErr(new PrintWriter(err, true));
    assertThat(commandLine.execute(command)).isEqualTo(1);
    return err.toString();
  }

  private static JsonNode registration(WirePublisher publisher) {
    return Api.JSON
        .createObjectNode()
        .put("endpoint", publisher.endpoint())
        .put("type", "vLLM")
        .put("modelname", Api.MODEL)
        .put("instance_id", "broken")
        .put("block_size", 16);
  }

  /** The clients that only a quarantined batch needs. */
  private static void assertQuarantine(Api api, WirePublisher broken) {
    await()
        .atMost(SOON)
        .until(
            () -> {
              broken.send("no batch at all");
              return !api.get("/quarantine").isEmpty();
            });
    JsonNode retried =
        api.post(
            "/quarantine/retry?force=true",
            Api.JSON.createObjectNode().put("instance_id", "broken"));
    assertThat(retried.path(0).path("rebuilding").asBoolean()).isTrue();
  }
}
