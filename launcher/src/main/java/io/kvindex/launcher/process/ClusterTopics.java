// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.kafka.KafkaProblem;
import io.kvindex.launcher.rewind.EventLog;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.site.SiteCheck;
import io.kvindex.model.topic.NewTopics;
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
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes sure a process finds its topics before it reads the first record. */
final class ClusterTopics {

  /** A partition of the events log may grow as retention lets it. */
  static final long UNBOUNDED = -1;

  private static final Logger LOG = LoggerFactory.getLogger(ClusterTopics.class);

  /** Unbounded, closing would wait for a cluster that does not answer. */
  private static final Duration CLOSE = Duration.ofSeconds(1);

  private static final String BOOTSTRAP = AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG;
  private static final Duration RETENTION = Duration.ofDays(7);
  private static final Duration ANSWER = Duration.ofSeconds(30);
  private static final long ANSWER_MS = ANSWER.toMillis();

  /** Who starts while the cluster is being restarted waits for it, so many answers long. */
  private static final int ATTEMPTS = 3;

  private ClusterTopics() {}

  /**
   * Creates missing topics and checks the others.
   *
   * @param eventPartitions partitions of a new events topic; an existing one keeps its own
   * @param replication copies of new topics
   * @param bytesPerPartition upper bound of a partition of the events log, or {@link #UNBOUNDED}
   * @throws io.kvindex.model.topic.TopicMismatchException if an existing topic does not fit
   * @throws io.kvindex.model.site.TopicRecreatedException if one is not the one it was
   * @throws IllegalStateException if the cluster does not answer
   */
  static SiteTopics ensure(
      Map<String, Object> kafka, int eventPartitions, short replication, long bytesPerPartition)
      throws InterruptedException {
    for (int attempt = 1; attempt < ATTEMPTS; attempt++) {
      try {
        return ensureNow(kafka, eventPartitions, replication, bytesPerPartition);
      } catch (KafkaAwayException e) {
        LOG.warn("{}; asking again", e.getMessage());
      }
    }
    return ensureNow(kafka, eventPartitions, replication, bytesPerPartition);
  }

  private static SiteTopics ensureNow(
      Map<String, Object> kafka, int eventPartitions, short replication, long bytesPerPartition)
      throws InterruptedException {
    return with(
        kafka,
        admin -> {
          int partitions = create(admin, eventPartitions, replication, bytesPerPartition);
          return new SiteTopics(partitions, new SiteCheck(admin, kafka, ANSWER).verify());
        });
  }

  /**
   * The same of a site that is there: in another cluster nothing is created, and what is missing of
   * it gets as many copies as the events have.
   *
   * @throws IllegalStateException if there is no events topic, or the cluster does not answer
   */
  static SiteTopics ofSite(Map<String, Object> kafka) throws InterruptedException {
    EventLog.Shape events = with(kafka, admin -> new EventLog(admin).shape());
    return ensure(kafka, events.partitions(), events.copies(), UNBOUNDED);
  }

  /**
   * Creates missing topics and takes all for the site's own, in a new epoch.
   *
   * @param always also where they are
   * @return those that were not
   */
  static List<String> repair(
      Map<String, Object> kafka,
      int eventPartitions,
      short replication,
      long bytesPerPartition,
      boolean always)
      throws InterruptedException {
    return with(
        kafka,
        admin -> {
          create(admin, eventPartitions, replication, bytesPerPartition);
          return new SiteCheck(admin, kafka, ANSWER).repair(always);
        });
  }

  private static int create(
      Admin admin, int eventPartitions, short replication, long bytesPerPartition)
      throws InterruptedException, ExecutionException, TimeoutException {
    int partitions = existing(admin, eventPartitions);
    new TopicCheck(admin, ANSWER_MS)
        .ensure(Topics.all(partitions, replication, RETENTION, bytesPerPartition));
    return partitions;
  }

  private interface Work<T> {
    T with(Admin admin) throws InterruptedException, ExecutionException, TimeoutException;
  }

  private static <T> T with(Map<String, Object> kafka, Work<T> work) throws InterruptedException {
    LOG.info("asking Kafka at {} for its topics", kafka.get(BOOTSTRAP));
    Admin admin = admin(kafka);
    try {
      return work.with(admin);
    } catch (TimeoutException | ExecutionException | KafkaException e) {
      String what =
          "Kafka at " + kafka.get(BOOTSTRAP) + " does not answer as needed: " + KafkaProblem.of(e);
      throw KafkaProblem.maySolveItself(e)
          ? new KafkaAwayException(what, e)
          : new IllegalStateException(what, e);
    } finally {
      admin.close(CLOSE);
    }
  }

  /** It may be there in a moment. */
  private static final class KafkaAwayException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    KafkaAwayException(String message, Exception cause) {
      super(message, cause);
    }
  }

  /** One that does not go on asking, when it is closed, beyond what we wait for. */
  private static Admin admin(Map<String, Object> kafka) {
    try {
      return Admin.create(
          ClientKind.ADMIN.settings(
              kafka,
              Map.of(
                  AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
                  (int) ANSWER_MS,
                  AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG,
                  (int) ANSWER_MS)));
    } catch (KafkaException e) {
      throw new IllegalArgumentException(
          "--kafka, or the Kafka settings, can not be used: " + KafkaProblem.of(e), e);
    }
  }

  /** The count of an events topic that is there already is the site's own choice. */
  private static int existing(Admin admin, int ifAbsent)
      throws InterruptedException, ExecutionException, TimeoutException {
    if (!admin.listTopics().names().get(ANSWER_MS, TimeUnit.MILLISECONDS).contains(Topics.EVENTS)) {
      return ifAbsent;
    }
    TopicDescription events =
        NewTopics.onceKnown(
                () -> admin.describeTopics(List.of(Topics.EVENTS)).allTopicNames(), ANSWER_MS)
            .get(Topics.EVENTS);
    return Objects.requireNonNull(events).partitions().size();
  }
}
