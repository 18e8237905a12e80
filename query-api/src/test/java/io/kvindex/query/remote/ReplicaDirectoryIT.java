// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.replica.ReplicaDirectory;
import io.kvindex.model.replica.ReplicaId;
import io.kvindex.model.replica.ReplicaLog;
import io.kvindex.model.replica.ReplicaRecord;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What replicas learn of each other through Kafka. */
@Tag("broker")
@Timeout(120)
class ReplicaDirectoryIT {

  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir Path dir;

  private static ReplicaRecord record(String address, String copy, int partition) {
    return new ReplicaRecord(new ReplicaId(address, copy, "1"), new TreeSet<>(Set.of(partition)));
  }

  private static void keeps(ReplicaLog log, ReplicaDirectory directory, ReplicaRecord record) {
    Awaitility.await()
        .atMost(LONG)
        .until(
            () -> {
              log.keep(record);
              return record.equals(directory.of(record.id().address()));
            });
  }

  @Test
  void shouldKnowTheOthers_untilTheyAreForgotten() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir)) {
      Map<String, Object> kafka = Map.of("bootstrap.servers", broker.bootstrapServers());
      try (Admin admin = Admin.create(kafka)) {
        new TopicCheck(admin, LONG.toMillis())
            .ensure(Topics.all(1, (short) 1, Duration.ofDays(1), -1));
      }
      try (ReplicaDirectory directory = new ReplicaDirectory(kafka);
          ReplicaLog log = new ReplicaLog(kafka, directory)) {
        keeps(log, directory, record("h:1", "a", 0));
        keeps(log, directory, record("h:2", "b", 0));
        keeps(log, directory, record("h:2", "b", 7));
        assertThat(directory.others("h:1")).containsExactly("h:2");
        assertThat(directory.addressesOf("b")).containsExactly("h:2");
        unreadable(kafka);
        try (ReplicaDirectory later = new ReplicaDirectory(kafka)) {
          assertThat(later.await(LONG)).isTrue();
          assertThat(later.of("h:2")).isEqualTo(record("h:2", "b", 7));
          assertThat(later.others("")).containsExactly("h:1", "h:2");
          assertThat(later.passedOver()).isOne();
          later.close();
          long began = System.nanoTime();
          assertThat(later.await(LONG)).isFalse();
          assertThat(System.nanoTime() - began)
              .as("nothing to wait for")
              .isLessThan(LONG.toNanos());
        }
        assertThat(log.forget("a")).containsExactly("h:1");
        Awaitility.await().atMost(LONG).until(() -> directory.of("h:1") == null);
        keeps(log, directory, record("h:1", "a", 0)); // it lives
      }
    }
  }

  private static void unreadable(Map<String, Object> kafka) {
    try (KafkaProducer<byte[], byte[]> producer =
        new KafkaProducer<>(kafka, new ByteArraySerializer(), new ByteArraySerializer())) {
      byte[] text = "h:3".getBytes(StandardCharsets.UTF_8);
      producer.send(new ProducerRecord<>(Topics.REPLICAS, text, text));
    }
  }
}
