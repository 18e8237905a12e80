// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.streams.StreamsConfig;
import org.junit.jupiter.api.Test;

class CopySettingsTest {

  private static StreamsConfig of(Map<String, Object> more) {
    Map<String, Object> site = new HashMap<>(more);
    site.put("bootstrap.servers", "h:1");
    return new StreamsConfig(CopySettings.of(site, "copy-a", "me", Path.of("/tmp/never"), 2));
  }

  private static Map<String, Object> consumer(StreamsConfig config) {
    return config.getMainConsumerConfigs("copy-a", "client", 1);
  }

  @Test
  void shouldReachKafkaStreamsAndItsConsumers() {
    StreamsConfig config = of(Map.of());
    assertThat(config.getString("processing.guarantee")).isEqualTo("at_least_once");
    assertThat(config.getString("group.protocol")).isEqualToIgnoringCase("classic");
    assertThat(config.getLong("commit.interval.ms")).isEqualTo(60_000);
    assertThat(config.getInt("num.standby.replicas")).isZero();
    assertThat(consumer(config))
        .containsEntry("group.instance.id", "me-1")
        .containsEntry("auto.offset.reset", "earliest")
        .containsEntry("session.timeout.ms", 6_000)
        .containsEntry("heartbeat.interval.ms", 2_000);
  }

  @Test
  void shouldLetASiteReplaceThem() {
    Map<String, Object> consumer =
        consumer(
            of(
                Map.of(
                    "consumer.session.timeout.ms",
                    10_000,
                    "main.consumer.heartbeat.interval.ms",
                    500,
                    "auto.offset.reset",
                    "none")));
    assertThat(consumer)
        .containsEntry("session.timeout.ms", 10_000)
        .containsEntry("heartbeat.interval.ms", 500)
        .containsEntry("auto.offset.reset", "earliest");
  }
}
