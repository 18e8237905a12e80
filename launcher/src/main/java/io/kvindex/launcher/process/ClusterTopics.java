// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;

/** Makes sure a process finds its topics before it reads the first record. */
final class ClusterTopics {

  private static final Duration RETENTION = Duration.ofDays(7);
  private static final long ANSWER_MS = TimeUnit.SECONDS.toMillis(30);

  private ClusterTopics() {}

  /**
   * Creates missing topics and checks the others.
   *
   * @param eventPartitions partitions of a new events topic; an existing one keeps its own
   * @param replication copies of new topics
   * @param bytesPerPartition upper bound of a partition of the events log, -1 = none
   * @return partitions of the events topic
   * @throws io.kvindex.model.topic.TopicMismatchException if an existing topic does not fit
   * @throws IllegalStateException if the cluster does not answer
   */
  static int ensure(
      Map<String, Object> kafka, int eventPartitions, short replication, long bytesPerPartition)
      throws InterruptedException {
    try (Admin admin = Admin.create(kafka)) {
      int partitions = existing(admin, eventPartitions);
      new TopicCheck(admin, ANSWER_MS)
          .ensure(Topics.all(partitions, replication, RETENTION, bytesPerPartition));
      return partitions;
    } catch (TimeoutException | ExecutionException e) {
      throw new IllegalStateException(
          "Kafka at "
              + kafka.get("bootstrap.servers")
              + " does not answer as needed: "
              + e.getMessage(),
          e);
    }
  }

  /** The count of an events topic that is there already is the site's own choice. */
  private static int existing(Admin admin, int ifAbsent)
      throws InterruptedException, ExecutionException, TimeoutException {
    if (!admin.listTopics().names().get(ANSWER_MS, TimeUnit.MILLISECONDS).contains(Topics.EVENTS)) {
      return ifAbsent;
    }
    TopicDescription events =
        admin
            .describeTopics(List.of(Topics.EVENTS))
            .allTopicNames()
            .get(ANSWER_MS, TimeUnit.MILLISECONDS)
            .get(Topics.EVENTS);
    return Objects.requireNonNull(events).partitions().size();
  }
}
