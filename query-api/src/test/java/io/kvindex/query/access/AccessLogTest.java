// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.query.access.AccessLog.AccessLogSettings;
import io.kvindex.query.dynamo.DynamoMeters;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.http.EventVisibility;
import io.kvindex.query.http.HttpServer;
import io.kvindex.query.http.HttpSettings;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is told of each request: to the log, and to Dynamo's metrics. */
class AccessLogTest {

  private final HttpClient client = HttpClient.newHttpClient();
  private final PrometheusMeterRegistry metrics =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

  @TempDir private Path directory;

  @Test
  void shouldWriteALineForEachRequest_andGoOnInANewFileWhenTold() throws Exception {
    Path file = directory.resolve("access.log");
    try (AccessLog log =
            AccessLog.start(
                new AccessLogSettings(file, AccessLogSettings.DEFAULT_TRACE_HEADER, false),
                metrics);
        HttpServer server = server(log)) {
      send(server, "/query", "{\"model_name\":\"m \\\"1\\\"\",\"token_ids\":[1]}", "abc-1");
      send(server, "/query", "{\"model_name\":\"none\",\"token_ids\":[1]}", null);
      send(server, "/query", "{", null);
      send(server, "/nowhere?secret=1", "", null);
      List<JsonNode> lines = lines(file, 4);
      JsonNode first = lines.get(0);
      assertThat(first.path("trace_id").asText()).isEqualTo("abc-1");
      assertThat(first.path("method").asText()).isEqualTo("POST");
      assertThat(first.path("path").asText()).isEqualTo("/query");
      assertThat(first.path("model").asText()).isEqualTo("m \"1\"");
      assertThat(first.path("status").asInt()).isEqualTo(200);
      assertThat(first.path("duration_ms").asDouble()).isBetween(0.001, 60_000.0);
      assertThat(OffsetDateTime.parse(first.path("ts").asText()).getOffset())
          .isEqualTo(ZoneOffset.UTC);
      assertThat(first.size()).isEqualTo(7);
      assertThat(lines.get(1).path("trace_id").isNull()).isTrue();
      assertThat(lines.get(1).path("status").asInt()).isEqualTo(404);
      assertThat(lines.get(1).path("model").asText()).isEqualTo("none");
      assertThat(lines.get(2).path("model").isNull()).isTrue();
      assertThat(lines.get(2).path("status").asInt()).isEqualTo(400);
      assertThat(lines.get(3).path("path").asText()).isEqualTo("/nowhere");
      Files.move(file, directory.resolve("access.log.1"));
      assertThat(send(server, "/reopen_logs", "", null)).isEqualTo(200);
      send(server, "/query", "{\"model_name\":\"m\",\"token_ids\":[1]}", null);
      await().until(() -> Files.exists(file) && Files.readString(file).contains("\"/query\""));
    }
    assertThat(metrics.scrape())
        .contains(
            "dynamo_kvindexer_requests_total{endpoint=\"/query\",method=\"POST\"} 4.0",
            "dynamo_kvindexer_requests_total{endpoint=\"unknown\",method=\"POST\"} 1.0",
            "dynamo_kvindexer_errors_total{endpoint=\"/query\",status_class=\"4xx\"} 2.0",
            "dynamo_kvindexer_request_duration_seconds_bucket{endpoint=\"/query\",le=\"1.0E-4\"}",
            "dynamo_kvindexer_request_duration_seconds_bucket{endpoint=\"/query\",le=\"52.4288\"}",
            "kvindex_access_log_dropped_total 0.0");
  }

  @Test
  void shouldDropAndCount_whenTooManyLinesWait() throws Exception {
    Path file = directory.resolve("access.log");
    AccessLogSettings settings =
        new AccessLogSettings(file, AccessLogSettings.DEFAULT_TRACE_HEADER, false);
    try (AccessLog log = new AccessLog(settings, metrics, 2);
        HttpServer server = server(log)) {
      for (int i = 0; i < 5; i++) {
        send(server, "/query", "{\"model_name\":\"m\",\"token_ids\":[1]}", "t-" + i);
      }
      await().until(() -> metrics.scrape().contains("kvindex_access_log_dropped_total 3.0"));
      assertThat(Files.size(file)).as("nothing is written yet").isZero();
      log.begin();
      List<JsonNode> written = lines(file, 2);
      assertThat(written).hasSize(2);
      assertThat(written.get(1).path("trace_id").asText()).isEqualTo("t-1");
      send(server, "/query", "{\"model_name\":\"m\",\"token_ids\":[1]}", "t-5");
      assertThat(lines(file, 3).get(2).path("trace_id").asText()).isEqualTo("t-5");
    }
  }

  @Test
  void shouldNameNoModel_whenAReplicaAsksAfterAQuery() throws Exception {
    Path file = directory.resolve("access.log");
    try (AccessLog log = AccessLog.start(new AccessLogSettings(file, "x-trace-id", true), metrics);
        HttpServer server = server(log)) {
      send(server, "/query", "{\"model_name\":\"m\",\"token_ids\":[1]}", null);
      assertThat(lines(file, 1).get(0).path("model").asText()).isEqualTo("m");
      send(server, "/replica/ask", "?", null);
      assertThat(lines(file, 2).get(1).path("model").isNull()).isTrue();
    }
  }

  @Test
  void shouldSayOk_whenLogsAreReopenedAndThereAreNone() throws Exception {
    try (HttpServer server = server(null)) {
      assertThat(send(server, "/reopen_logs", "", null)).isEqualTo(200);
    }
  }

  @Test
  void shouldStayWithTheOldFile_whenTheNewOneCanNotBeOpened() throws Exception {
    Path inside = Files.createDirectory(directory.resolve("logs"));
    Path file = inside.resolve("access.log");
    try (AccessLog log = AccessLog.start(new AccessLogSettings(file, "x-trace-id", true), metrics);
        HttpServer server = server(log)) {
      Files.move(inside, directory.resolve("moved"));
      assertThat(send(server, "/reopen_logs", "", null)).isEqualTo(500);
      lines(directory.resolve("moved/access.log"), 1);
    }
  }

  private HttpServer server(AccessLog log) {
    DynamoMeters meters = new DynamoMeters(metrics);
    meters.serve(Set.of("/query", "/reopen_logs"));
    return HttpServer.start(
        HttpSettings.DEFAULT.at("127.0.0.1", 0),
        (form, query, reply) -> {
          if (query.model().equals("none")) {
            throw ErrorCode.NOT_FOUND.because("no indexer");
          }
          reply.body().raw('{').raw('}');
        },
        EventVisibility.UNKNOWN,
        () -> Map.of("/replica/ask", (question, parameters) -> question),
        routes -> AccessLog.addTo(routes, log),
        log == null ? meters : meters.and(log),
        metrics);
  }

  private int send(HttpServer server, String path, String body, String trace) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .POST(BodyPublishers.ofString(body));
    if (trace != null) {
      request.header("X-Trace-Id", trace);
    }
    return client.send(request.build(), BodyHandlers.ofString()).statusCode();
  }

  private static List<JsonNode> lines(Path file, int wanted) throws Exception {
    await().until(() -> Files.readAllLines(file).size() >= wanted);
    ObjectMapper json = new ObjectMapper();
    List<JsonNode> lines = new java.util.ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      lines.add(json.readTree(line));
    }
    return lines;
  }
}
