// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.produce;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class KafkaSettingsTest {

  private static final Map<String, Object> SITE =
      Map.of(
          "bootstrap.servers",
          "h:1",
          "security.protocol",
          "SSL",
          "request.timeout.ms",
          "1",
          "consumer.session.timeout.ms",
          "3000",
          "producer.linger.ms",
          "4",
          "enable.metrics.push",
          "true");

  @Test
  void shouldGiveEachClientWhatTheSiteSays() {
    Map<String, Object> member = KafkaSettings.member(SITE, "g", null);
    assertThat(member)
        .containsEntry("security.protocol", "SSL")
        .containsEntry("session.timeout.ms", "3000")
        .containsEntry("request.timeout.ms", "1")
        .containsEntry("enable.metrics.push", "true")
        .containsEntry("group.id", "g")
        .doesNotContainKeys("consumer.session.timeout.ms", "linger.ms");
    assertThat(KafkaSettings.session(member)).isEqualTo(Duration.ofSeconds(3));
    assertThat(KafkaSettings.reader(SITE))
        .containsEntry("security.protocol", "SSL")
        .doesNotContainKey("group.id");
    assertThat(KafkaSettings.producer(SITE, 1 << 20, Duration.ofMinutes(10)))
        .containsEntry("security.protocol", "SSL")
        .containsEntry("linger.ms", "4")
        .as("ours, which the send budget depends on")
        .containsEntry("request.timeout.ms", 10_000)
        .containsEntry("acks", "all");
  }

  @Test
  void shouldUseOurs_whenTheSiteSaysNothing() {
    Map<String, Object> site = Map.of("bootstrap.servers", "h:1");
    Map<String, Object> member = KafkaSettings.member(site, "g", "me");
    assertThat(KafkaSettings.session(member)).isEqualTo(Duration.ofSeconds(6));
    assertThat(member)
        .containsEntry("session.timeout.ms", 6_000)
        .containsEntry("group.instance.id", "me")
        .containsEntry("enable.metrics.push", false);
  }
}
