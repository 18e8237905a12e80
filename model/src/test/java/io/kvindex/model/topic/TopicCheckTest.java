// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.topic;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.junit.jupiter.api.Test;

class TopicCheckTest {

  @Test
  void shouldTellOtherSettings_whenAnExistingTopicKeepsRawFramesLonger() {
    assertThat(TopicCheck.differences(quarantine(), config(Map.of("segment.ms", "604800000"))))
        .containsExactly("segment.ms=604800000, a new one would get 3600000");
    assertThat(TopicCheck.differences(quarantine(), config(Map.of()))).isEmpty();
  }

  /** A segment is deleted whole, so what it may grow to has to be well below the bound. */
  @Test
  void shouldBoundTheQuarantine_whenItIsMade() {
    Map<String, String> config = quarantine().config();
    assertThat(Long.parseLong(config.getOrDefault("segment.ms", "")))
        .isLessThanOrEqualTo(Duration.ofHours(1).toMillis());
    assertThat(Long.parseLong(config.getOrDefault("segment.bytes", "")) * 4)
        .isLessThanOrEqualTo(Long.parseLong(config.getOrDefault("retention.bytes", "")));
  }

  private static TopicSpec quarantine() {
    return Topics.all(2, (short) 1, Duration.ofDays(1), -1).stream()
        .filter(topic -> topic.name().equals(Topics.QUARANTINE))
        .findFirst()
        .orElseThrow();
  }

  /** The settings of a new topic, with some others. */
  private static Config config(Map<String, String> others) {
    Map<String, String> all = new java.util.HashMap<>(quarantine().config());
    all.putAll(others);
    return new Config(
        all.entrySet().stream().map(one -> new ConfigEntry(one.getKey(), one.getValue())).toList());
  }
}
