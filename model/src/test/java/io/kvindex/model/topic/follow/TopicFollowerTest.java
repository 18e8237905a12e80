// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.topic.follow;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;

class TopicFollowerTest {

  /** Else the connection is given up again and again while a topic is silent. */
  @Test
  void shouldNotTakeAFetchThatWaitsForLost_whenASiteIsImpatient() {
    Map<String, Object> settings =
        TopicFollower.settings(Map.of("bootstrap.servers", "h:1", "request.timeout.ms", "2000"));
    settings.put("key.deserializer", ByteArrayDeserializer.class);
    settings.put("value.deserializer", ByteArrayDeserializer.class);
    ConsumerConfig config = new ConsumerConfig(settings);
    assertThat(config.getInt(ConsumerConfig.REQUEST_TIMEOUT_MS_CONFIG))
        .isGreaterThan(config.getInt(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG));
  }
}
