// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.query.conductor.BareIndex;
import io.kvindex.query.http.HttpSettings;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A replica that has just started and has not read yet who is registered: an answer would lack
 * instances, and look right.
 */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class UnreadRegistrationsTest {

  private final HttpClient client = HttpClient.newHttpClient();

  /** A Kafka that says nothing. */
  private final ServerSocket kafka;

  private final QueryApi api;

  UnreadRegistrationsTest() throws IOException {
    kafka = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    api =
        QueryApi.start(
            QueryApi.Options.of(
                HttpSettings.DEFAULT.at("127.0.0.1", 0), "127.0.0.1:" + kafka.getLocalPort()),
            new BareIndex(),
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT));
  }

  @AfterAll
  void stop() throws IOException {
    api.close();
    kafka.close();
  }

  private HttpResponse<String> send(HttpRequest.Builder request, String path) throws Exception {
    return client.send(
        request.uri(URI.create("http://127.0.0.1:" + api.port() + path)).build(),
        BodyHandlers.ofString());
  }

  private static void assertRefused(HttpResponse<String> answer) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(503);
    assertThat(answer.body()).contains("registrations are still being read");
    assertThat(answer.headers().firstValue("Retry-After")).isPresent();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/query | {\"model\":\"m\",\"block_size\":16,\"token_ids\":[1,2,3]}",
        "/query | {\"model_name\":\"m\",\"token_ids\":[1,2,3]}",
        "/explain | {\"model\":\"m\",\"block_size\":16,\"token_ids\":[1,2,3]}",
        "/query_by_hash | {\"model_name\":\"m\",\"block_hashes\":[1]}"
      })
  void shouldRefuseQueries(String path, String body) throws Exception {
    assertRefused(send(HttpRequest.newBuilder().POST(BodyPublishers.ofString(body)), path));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/workers", "/services", "/global_view", "/dump", "/ready"})
  void shouldRefuseToList(String path) throws Exception {
    assertRefused(send(HttpRequest.newBuilder(), path));
  }

  @Test
  void shouldGoOnTellingOfItself() throws Exception {
    for (String path : new String[] {"/health", "/metrics"}) {
      assertThat(send(HttpRequest.newBuilder(), path).statusCode()).isEqualTo(200);
    }
  }
}
