// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.topic.Topics;
import io.kvindex.streams.topology.IndexTopology;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.GroupNotEmptyException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The topic the rows are restored from, before Kafka Streams is started. For one thread. */
final class ChangelogTopic {

  /** Number of copies that leaves it to the brokers' {@code default.replication.factor}. */
  static final int BROKERS_DEFAULT = -1;

  private static final Logger LOG = LoggerFactory.getLogger(ChangelogTopic.class);
  private static final long ANSWER_MS = 15_000;
  private static final String PLACES = "__consumer_offsets";

  /** Unbounded, closing would wait for a cluster that has just been given up. */
  private static final Duration CLOSE = Duration.ofSeconds(1);

  private final Map<String, Object> kafka;
  private final String applicationId;
  private final String topic;
  private volatile String cluster = "";

  /**
   * @param kafka settings of all Kafka clients
   */
  ChangelogTopic(Map<String, Object> kafka, String applicationId) {
    this.kafka = kafka;
    this.applicationId = applicationId;
    topic = IndexTopology.changelogOf(applicationId);
  }

  private interface Question<T> {
    T ask(Admin admin) throws InterruptedException, ExecutionException, TimeoutException;
  }

  /** Whose rows a replica has to have; null = Kafka does not answer. */
  @Nullable LocalIdentity identity() {
    try {
      return ask(
          admin -> {
            TopicDescription found = describe(admin, topic);
            cluster = answer(admin.describeCluster().clusterId());
            return LocalIdentity.of(cluster, found == null ? "" : found.topicId().toString());
          });
    } catch (ExecutionException | TimeoutException e) {
      // Asked again and again while a replica runs: whoever starts with it says so.
      LOG.debug("Kafka does not say which cluster it is", e);
      return null;
    }
  }

  /** Kafka's id of its cluster as it was told last, empty = never. For any thread. */
  String cluster() {
    return cluster;
  }

  /**
   * As many as the log has: with fewer, a broker that loses its disk would take rows along that
   * standbys and new replicas need. {@link #BROKERS_DEFAULT} = Kafka does not say.
   */
  int copiesOfEvents() {
    try {
      return ask(
          admin -> {
            TopicDescription events = describe(admin, Topics.EVENTS);
            return events == null ? BROKERS_DEFAULT : events.partitions().get(0).replicas().size();
          });
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn("Kafka does not say how many copies {} has", Topics.EVENTS, e);
      return BROKERS_DEFAULT;
    }
  }

  /**
   * Has the application read the log from its beginning if it has a place in it although the topic
   * is gone: going on from there, with no rows of what was before, its tables would be empty and
   * look right. Kafka Streams' commits carry metadata; a place that a rebuild was given, which has
   * no topic yet, does not.
   *
   * @throws IllegalStateException if other replicas run, which would commit their place again, or
   *     Kafka does not answer or does not allow it
   */
  void forgetPlaceWithoutRows() {
    try {
      ask(
          admin -> {
            if (hasPlace(admin)) {
              forgetPlace(admin);
            }
            return true;
          });
    } catch (ExecutionException | TimeoutException e) {
      Throwable why = e.getCause() == null ? e : e.getCause();
      throw new IllegalStateException(
          "there is no topic "
              + topic
              + ", and Kafka does not say whether "
              + applicationId
              + " had one and read the log on, or does not let its place there be deleted ("
              + why
              + "): start again when it answers; docs/operations.md lists the rights this needs",
          e);
    }
  }

  private boolean hasPlace(Admin admin)
      throws InterruptedException, ExecutionException, TimeoutException {
    // Asking for a place would create Kafka's topic of places.
    if (describe(admin, PLACES) == null) {
      return false;
    }
    return answer(admin.listConsumerGroupOffsets(applicationId).partitionsToOffsetAndMetadata())
        .values()
        .stream()
        .filter(Objects::nonNull)
        .anyMatch(place -> place.offset() > 0 && !place.metadata().isEmpty());
  }

  private void forgetPlace(Admin admin)
      throws InterruptedException, ExecutionException, TimeoutException {
    try {
      answer(admin.deleteConsumerGroups(List.of(applicationId)).all());
    } catch (ExecutionException e) {
      if (e.getCause() instanceof GroupNotEmptyException) {
        requireNewTopic(admin, e);
        return;
      }
      if (!(e.getCause() instanceof GroupIdNotFoundException)) {
        throw e;
      }
    }
    LOG.warn(
        "the topic {} is gone, and with it the tables' rows: they are built anew from {}, as far"
            + " back as that goes",
        topic,
        Topics.EVENTS);
  }

  /** Another replica that started at the same time may have begun anew already. */
  private void requireNewTopic(Admin admin, ExecutionException notEmpty)
      throws InterruptedException, ExecutionException, TimeoutException {
    if (describe(admin, topic) == null) {
      throw new IllegalStateException(
          "the topic "
              + topic
              + " is gone, and with it the tables' rows, but replicas of "
              + applicationId
              + " still run or ended some seconds ago: stop all of them, then start again, and"
              + " the tables are built anew from "
              + Topics.EVENTS,
          notEmpty);
    }
  }

  private <T> T ask(Question<T> question) throws ExecutionException, TimeoutException {
    Admin admin = Admin.create(ClientKind.ADMIN.settings(kafka, Map.of()));
    try {
      return question.ask(admin);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while asking Kafka about " + topic, e);
    } finally {
      admin.close(CLOSE);
    }
  }

  private static @Nullable TopicDescription describe(Admin admin, String topic)
      throws InterruptedException, ExecutionException, TimeoutException {
    try {
      return answer(admin.describeTopics(List.of(topic)).allTopicNames()).get(topic);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException) {
        return null;
      }
      throw e;
    }
  }

  private static <T> T answer(KafkaFuture<T> future)
      throws InterruptedException, ExecutionException, TimeoutException {
    return future.get(ANSWER_MS, TimeUnit.MILLISECONDS);
  }
}
