// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class IndexerConfigTest {

  private static Duration session(Map<String, Object> site) {
    Map<String, Object> kafka = new HashMap<>(site);
    kafka.put("bootstrap.servers", "localhost:1");
    IndexerConfig config = IndexerConfig.on(kafka, Path.of("unused"));
    return config.session();
  }

  @Test
  void shouldKnowTheSessionItsConsumerHas() {
    assertThat(session(Map.of())).hasSeconds(6);
    assertThat(session(Map.of("session.timeout.ms", "9000")))
        .as("below what kvindex sets itself")
        .hasSeconds(6);
    assertThat(session(Map.of("consumer.session.timeout.ms", 9_000))).hasSeconds(9);
    assertThat(
            session(
                Map.of(
                    "consumer.session.timeout.ms",
                    9_000,
                    "main.consumer.session.timeout.ms",
                    "2500")))
        .as("the narrower name")
        .hasMillis(2_500);
  }
}
