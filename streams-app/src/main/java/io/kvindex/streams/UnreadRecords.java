// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.topic.Topics;
import io.kvindex.streams.topology.Hole;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What retention has deleted of the events topic before an application read it, because none of its
 * replicas ran for so long. Kafka Streams reads on from the first record left and says nothing.
 */
final class UnreadRecords {

  private static final Logger LOG = LoggerFactory.getLogger(UnreadRecords.class);
  private static final long ANSWER_MS = 15_000;
  private static final Duration CLOSE = Duration.ofSeconds(1);

  private UnreadRecords() {}

  /**
   * Asks Kafka, before the application is started.
   *
   * @param kafka settings of all Kafka clients
   * @return by partition; empty also where Kafka does not say, which is logged
   */
  static Map<Integer, Hole> deleted(Map<String, Object> kafka, String applicationId) {
    Admin admin = Admin.create(ClientKind.ADMIN.settings(kafka, Map.of()));
    try {
      return deleted(
          answer(admin.listConsumerGroupOffsets(applicationId).partitionsToOffsetAndMetadata()),
          admin);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while asking Kafka what was not read", e);
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn("Kafka does not say whether records were deleted before they were read", e);
      return Map.of();
    } finally {
      admin.close(CLOSE);
    }
  }

  private static Map<Integer, Hole> deleted(
      Map<TopicPartition, OffsetAndMetadata> committed, Admin admin)
      throws InterruptedException, ExecutionException, TimeoutException {
    Map<TopicPartition, OffsetSpec> firsts = new HashMap<>();
    committed.forEach(
        (partition, place) -> {
          if (place != null && partition.topic().equals(Topics.EVENTS)) {
            firsts.put(partition, OffsetSpec.earliest());
          }
        });
    Map<Integer, Hole> holes = new HashMap<>();
    for (Map.Entry<TopicPartition, ListOffsetsResultInfo> first :
        answer(admin.listOffsets(firsts).all()).entrySet()) {
      OffsetAndMetadata place = committed.get(first.getKey());
      if (place != null && place.offset() < first.getValue().offset()) {
        holes.put(first.getKey().partition(), new Hole(place.offset(), first.getValue().offset()));
      }
    }
    return holes;
  }

  private static <T> T answer(KafkaFuture<T> future)
      throws InterruptedException, ExecutionException, TimeoutException {
    return future.get(ANSWER_MS, TimeUnit.MILLISECONDS);
  }
}
