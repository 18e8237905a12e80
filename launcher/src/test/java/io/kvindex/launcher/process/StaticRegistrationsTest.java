// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.kvindex.launcher.process.ConductorConfig.Entry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is sent to {@code POST /register}, and what follows from its answers. */
class StaticRegistrationsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path directory;

  private final List<JsonNode> received = Collections.synchronizedList(new ArrayList<>());
  private final Deque<Integer> answers = new ArrayDeque<>();
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/register",
        exchange -> {
          received.add(JSON.readTree(exchange.getRequestBody()));
          byte[] body = "{\"error\":\"told\"}".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(answers.isEmpty() ? 200 : answers.remove(), body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void apply(String entries) throws Exception {
    Path file = directory.resolve("conductor_config.json");
    Files.writeString(file, "{\"kvevent_instance\":{" + entries + "}}");
    List<Entry> read = ConductorConfig.find(file, Map.of()).registrations();
    StaticRegistrations.apply(
        URI.create("http://127.0.0.1:" + server.getAddress().getPort()), read);
  }

  @Test
  void shouldSendEachEntryAsItIs_whenNothingIsInItsWay() throws Exception {
    apply("\"a\":{\"endpoint\":\"tcp://h:1\",\"unknown\":[1]},\"b\":{\"instance_id\":\"x\"}");
    assertThat(received)
        .map(JsonNode::toString)
        .containsExactly(
            "{\"endpoint\":\"tcp://h:1\",\"unknown\":[1],\"instance_id\":\"a\"}",
            "{\"instance_id\":\"x\"}");
  }

  @Test
  void shouldReplace_whenWhatIsRegisteredDiffers() throws Exception {
    answers.add(409);
    apply("\"a\":{}");
    assertThat(received)
        .map(JsonNode::toString)
        .containsExactly("{\"instance_id\":\"a\"}", "{\"instance_id\":\"a\",\"replace\":true}");
  }

  @Test
  void shouldNotReplaceItsOwnEntry_whenTwoNameOnePublisher() throws Exception {
    answers.addAll(List.of(200, 409, 409, 200));
    apply(
        "\"a\":{\"dp_rank\":0},\"b\":{\"instance_id\":\"a\",\"tenant_id\":\"default\"},"
            + "\"c\":{\"instance_id\":\"a\",\"tenant_id\":\"acme\"}");
    assertThat(received).hasSize(4);
    assertThat(received).filteredOn(body -> body.has("replace")).hasSize(1);
    assertThat(received.get(3).path("tenant_id").asText()).isEqualTo("acme");
  }

  @Test
  void shouldGoOnWithTheNext_whenAnEntryIsRefused() throws Exception {
    answers.addAll(List.of(400, 200));
    apply("\"a\":{},\"b\":{}");
    assertThat(received).hasSize(2);
  }

  @Test
  void shouldTryAgainAndThenGoOn_whenKafkaIsSlow() throws Exception {
    answers.addAll(List.of(503, 200, 503, 503, 503, 200));
    apply("\"a\":{},\"b\":{},\"c\":{}");
    assertThat(received)
        .extracting(body -> body.path("instance_id").asText())
        .containsExactly("a", "a", "b", "b", "b", "c");
  }
}
