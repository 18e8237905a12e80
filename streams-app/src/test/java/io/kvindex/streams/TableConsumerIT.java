// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;

import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.streams.fixture.LogFeed;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A member with a name is given back what it had, unless it asks for more. */
@Tag("broker")
@Timeout(120)
class TableConsumerIT {

  private static final Duration POLL = Duration.ofMillis(50);

  @TempDir private Path dir;

  @Test
  void shouldHaveTheGroupShareAnew_whenItGaveUpWhatItHad() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("kafka"))) {
      new LogFeed(broker.bootstrapServers(), 5).send(1);
      try (TableConsumer consumer = consumer(broker.bootstrapServers())) {
        consumer.subscribe(List.of(Topics.EVENTS));
        int first = generation(consumer, 0);

        consumer.unsubscribe();
        consumer.subscribe(List.of(Topics.EVENTS));
        consumer.poll(Duration.ZERO); // too short to join in
        int second = generation(consumer, first);

        // And once: nothing else happened.
        for (int i = 0; i < 40; i++) {
          consumer.poll(POLL);
        }
        until(() -> consumer.groupMetadata().generationId() == second, "no rebalance after that");
      }
    }
  }

  /** Of the rebalance that brings it what it reads; later than {@code before}. */
  private static int generation(TableConsumer consumer, int before) throws Exception {
    until(
        () -> {
          consumer.poll(POLL);
          return consumer.groupMetadata().generationId() > before
              && !consumer.assignment().isEmpty();
        },
        "a rebalance later than " + before);
    return consumer.groupMetadata().generationId();
  }

  private static TableConsumer consumer(String servers) {
    return new TableConsumer(
        Map.of(
            ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
            servers,
            ConsumerConfig.GROUP_ID_CONFIG,
            "table-consumer-it",
            ConsumerConfig.GROUP_INSTANCE_ID_CONFIG,
            "127.0.0.1_1_01234567-1"));
  }
}
