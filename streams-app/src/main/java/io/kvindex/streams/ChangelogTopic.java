// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.kafka.ClientKind;
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
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The topic the rows are restored from. */
final class ChangelogTopic {

  private static final Logger LOG = LoggerFactory.getLogger(ChangelogTopic.class);
  private static final long ANSWER_MS = 15_000;

  /** Unbounded, closing would wait for a cluster that has just been given up. */
  private static final Duration CLOSE = Duration.ofSeconds(1);

  private ChangelogTopic() {}

  /** Asks the cluster whose rows a replica has to have; null = it does not answer. */
  static @Nullable LocalIdentity identity(Map<String, Object> kafka, String applicationId) {
    Admin admin = Admin.create(ClientKind.ADMIN.settings(kafka, Map.of()));
    try {
      String cluster = admin.describeCluster().clusterId().get(ANSWER_MS, TimeUnit.MILLISECONDS);
      return LocalIdentity.of(cluster, topicId(admin, IndexTopology.changelogOf(applicationId)));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn("Kafka does not say which cluster it is; local rows are taken for its own", e);
      return null;
    } finally {
      admin.close(CLOSE);
    }
  }

  private static String topicId(Admin admin, String topic)
      throws InterruptedException, ExecutionException, TimeoutException {
    try {
      TopicDescription found =
          admin
              .describeTopics(List.of(topic))
              .allTopicNames()
              .get(ANSWER_MS, TimeUnit.MILLISECONDS)
              .get(topic);
      return Objects.requireNonNull(found).topicId().toString();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof UnknownTopicOrPartitionException) {
        return "";
      }
      throw e;
    }
  }
}
