// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks Kafka for offsets, and never waits long for them. For one thread. */
final class LogOffsets implements LogLag.Offsets {

  private static final Logger LOG = LoggerFactory.getLogger(LogOffsets.class);

  /** On a full machine answers take their time, and late ones are better than none. */
  private static final int ANSWER_MS = 5_000;

  /** What is known of the others must not grow old while one partition has no leader. */
  private static final int OTHERS_WAIT_MS = 500;

  /** Kafka's word for a time nothing was written since. */
  private static final long NOTHING_SINCE = -1;

  private final Admin admin;
  private final String group;

  /** A question that is not answered yet, null = there is none. */
  private @Nullable CompletableFuture<Map<TopicPartition, OffsetAndMetadata>> asked;

  private @Nullable Map<TopicPartition, OffsetAndMetadata> committed;

  /**
   * @param admin closed with this object
   * @param group whose places are asked for
   */
  LogOffsets(Admin admin, String group) {
    this.admin = admin;
    this.group = group;
  }

  /**
   * Where partitions end. Each is asked for by itself: those that nobody leads at the moment are
   * left out.
   */
  @Override
  public Map<TopicPartition, Long> ends(Collection<TopicPartition> of) {
    ListOffsetsResult answers =
        admin.listOffsets(
            of.stream().collect(Collectors.toMap(p -> p, p -> OffsetSpec.latest())),
            new ListOffsetsOptions().timeoutMs(ANSWER_MS));
    Map<TopicPartition, CompletableFuture<ListOffsetsResultInfo>> each = new HashMap<>();
    of.forEach(partition -> each.put(partition, future(answers.partitionResult(partition))));
    CompletableFuture<?>[] all = each.values().toArray(new CompletableFuture<?>[0]);
    await(CompletableFuture.anyOf(all), ANSWER_MS);
    await(CompletableFuture.allOf(all), OTHERS_WAIT_MS);
    Map<TopicPartition, Long> ends = new HashMap<>();
    each.forEach(
        (partition, answer) -> {
          if (answer.isDone() && !answer.isCompletedExceptionally()) {
            ends.put(partition, answer.join().offset());
          }
        });
    return ends;
  }

  /**
   * What the group has committed, as far as is known: where its coordinator takes its time, what it
   * said before, since places only go on. Null = it never said anything.
   */
  @Override
  public @Nullable Map<TopicPartition, OffsetAndMetadata> committed() {
    CompletableFuture<Map<TopicPartition, OffsetAndMetadata>> question = asked;
    if (question == null) {
      question =
          future(
              admin
                  .listConsumerGroupOffsets(
                      group, new ListConsumerGroupOffsetsOptions().timeoutMs(ANSWER_MS))
                  .partitionsToOffsetAndMetadata());
    }
    await(question, OTHERS_WAIT_MS);
    asked = question.isDone() ? null : question;
    if (question.isDone() && !question.isCompletedExceptionally()) {
      committed = question.join();
    }
    return committed;
  }

  @Override
  public long start(TopicPartition of) {
    return offset(of, OffsetSpec.earliest());
  }

  @Override
  public long firstSince(TopicPartition of, Instant time) {
    long young = offset(of, OffsetSpec.forTimestamp(time.toEpochMilli()));
    return young == NOTHING_SINCE ? offset(of, OffsetSpec.latest()) : young;
  }

  private long offset(TopicPartition of, OffsetSpec which) {
    ListOffsetsOptions options = new ListOffsetsOptions().timeoutMs(ANSWER_MS);
    CompletableFuture<ListOffsetsResultInfo> answer =
        future(admin.listOffsets(Map.of(of, which), options).partitionResult(of));
    await(answer, OTHERS_WAIT_MS);
    if (!answer.isDone() || answer.isCompletedExceptionally()) {
      throw new IllegalStateException("Kafka does not say where " + of + " is");
    }
    return answer.join().offset();
  }

  private static <T> CompletableFuture<T> future(KafkaFuture<T> kafkas) {
    return kafkas.toCompletionStage().toCompletableFuture();
  }

  /** Waits until there is an answer, or a failure, but not for long. */
  private static void await(CompletableFuture<?> answer, long ms) {
    try {
      answer.get(ms, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while Kafka was asked", e);
    } catch (ExecutionException | TimeoutException e) {
      LOG.debug("Kafka did not answer", e);
    }
  }

  @Override
  public void close() {
    // What it asks of a Kafka that is away would be waited for a minute.
    admin.close(Duration.ofSeconds(1));
  }
}
