// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ClientKindTest {

  private static final Map<String, Object> SITE =
      Map.of(
          "bootstrap.servers",
          "h:1",
          "request.timeout.ms",
          "1",
          "producer.linger.ms",
          "2",
          "consumer.client.rack",
          "a",
          "main.consumer.max.poll.records",
          "3",
          "admin.retries",
          "4");

  @Test
  void shouldGiveEachKindItsOwn_andWhatIsForAll() {
    assertThat(of(ClientKind.PRODUCER))
        .isEqualTo(Map.of("bootstrap.servers", "h:1", "request.timeout.ms", "1", "linger.ms", "2"));
    assertThat(of(ClientKind.CONSUMER))
        .isEqualTo(
            Map.of("bootstrap.servers", "h:1", "request.timeout.ms", "1", "client.rack", "a"));
    assertThat(of(ClientKind.ADMIN))
        .isEqualTo(Map.of("bootstrap.servers", "h:1", "request.timeout.ms", "1", "retries", "4"));
  }

  private static Map<String, Object> of(ClientKind kind) {
    Map<String, Object> settings = kind.settings(SITE, Map.of());
    assertThat(settings.remove("metric.reporters")).isEqualTo("");
    return settings;
  }

  @Test
  void shouldHaveMetricsReported_whenTheSiteWantsThat() {
    assertThat(ClientKind.ADMIN.settings(Map.of("metric.reporters", "some.Reporter"), Map.of()))
        .containsEntry("metric.reporters", "some.Reporter");
  }

  @Test
  void shouldPutOursAboveWhatIsForAll_andBelowWhatIsForTheKind() {
    assertThat(
            ClientKind.PRODUCER.settings(SITE, Map.of("request.timeout.ms", 10, "linger.ms", 20)))
        .containsEntry("request.timeout.ms", 10)
        .containsEntry("linger.ms", "2");
  }
}
