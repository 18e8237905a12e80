// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import io.kvindex.model.registration.Generations;
import io.kvindex.model.topic.NewTopics;
import io.kvindex.model.topic.Topics;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notices topics that were deleted and created again. Their offsets begin anew, and generations are
 * offsets: everything new would be taken for older than what the tables hold, and dropped, while
 * the dead blocks were served for ever. {@link #repair} begins an epoch whose generations lie above
 * all former ones. The topics must exist.
 */
public final class SiteCheck {

  private static final Logger LOG = LoggerFactory.getLogger(SiteCheck.class);

  private static final List<String> WATCHED =
      List.of(Topics.REGISTRATIONS, Topics.BRIDGE_PROGRESS, Topics.EVENTS);

  /** Where no record tells the former epoch: hours since then are above any number of repairs. */
  private static final Instant EPOCHS_BEGIN = Instant.parse("2020-01-01T00:00:00Z");

  private final Admin admin;
  private final Map<String, Object> kafka;
  private final Duration timeout;

  /**
   * @param admin stays open, the caller closes it
   * @param kafka settings of its clients, at least {@code bootstrap.servers}
   * @param timeout longest wait for each answer of the cluster
   */
  public SiteCheck(Admin admin, Map<String, Object> kafka, Duration timeout) {
    this.admin = admin;
    this.kafka = kafka;
    this.timeout = timeout;
  }

  /**
   * Checks that the topics are those the site's positions belong to, and remembers them the first
   * time.
   *
   * @return generations of the site's epoch
   * @throws TopicRecreatedException if one of them is another one
   * @throws TimeoutException if the cluster does not answer in time
   */
  public Generations verify() throws InterruptedException, ExecutionException, TimeoutException {
    Map<String, TopicDescription> topics = describe();
    SiteLog log = log(topics);
    SiteContent content = log.read();
    List<String> others = others(content, ids(topics));
    if (!others.isEmpty()) {
      throw new TopicRecreatedException(
          String.join(", ", others)
              + (others.size() == 1 ? " was" : " were")
              + " deleted and created again, but what the tables hold belongs to the former topics: nothing"
              + " new would be taken. Stop all bridges and indexes, run 'kvindex repair --kafka HOST:PORT' (for"
              + " 'kvindex all': 'kvindex repair --data-dir DIR'), start them again, and register the engines"
              + " again if "
              + Topics.REGISTRATIONS
              + " is among the topics");
    }
    SiteRecord site = log.complete(content, new SiteRecord(0, ids(topics)));
    return new Generations(site.epoch());
  }

  /**
   * Makes the topics as they are now the site's, in a new epoch. No bridge and no index may run.
   *
   * @param always also where nothing is wrong
   * @return the topics that were others before, empty = none
   */
  public List<String> repair(boolean always)
      throws InterruptedException, ExecutionException, TimeoutException {
    Map<String, TopicDescription> topics = describe();
    SiteLog log = log(topics);
    SiteContent content = log.read();
    List<String> others = others(content, ids(topics));
    if (!others.isEmpty() || always) {
      long epoch = next(content.newest(), always);
      log.write(new SiteRecord(new Generations(epoch).epoch(), ids(topics)));
      LOG.info("the site's epoch is now {}, topics created again: {}", epoch, others);
    }
    return others;
  }

  /** What is remembered may be younger than the tables where somebody insists though all fits. */
  private static long next(@Nullable SiteRecord newest, boolean doubted) {
    long above = Duration.between(EPOCHS_BEGIN, Instant.now()).toHours();
    if (newest == null) {
      return above;
    }
    return doubted ? Math.max(above, newest.epoch() + 1) : newest.epoch() + 1;
  }

  /** Topics that are not those the positions belong to. */
  private static List<String> others(SiteContent content, Map<String, String> ids) {
    SiteRecord site = content.newest();
    if (site == null) {
      return lost(content);
    }
    return WATCHED.stream()
        .filter(topic -> !Objects.equals(ids.get(topic), site.topicIds().get(topic)))
        .toList();
  }

  /** Without a record: nobody can have written events before progress, nor progress before that. */
  private static List<String> lost(SiteContent content) {
    boolean events = content.wasWritten(Topics.EVENTS);
    boolean progress = content.wasWritten(Topics.BRIDGE_PROGRESS);
    boolean registrations = content.wasWritten(Topics.REGISTRATIONS);
    if (!registrations && !progress && events) {
      return List.of(Topics.REGISTRATIONS, Topics.BRIDGE_PROGRESS);
    }
    if (!registrations && progress) {
      return List.of(Topics.REGISTRATIONS);
    }
    return !progress && events ? List.of(Topics.BRIDGE_PROGRESS) : List.of();
  }

  private Map<String, TopicDescription> describe()
      throws InterruptedException, ExecutionException, TimeoutException {
    return NewTopics.onceKnown(
        () -> admin.describeTopics(WATCHED).allTopicNames(), timeout.toMillis());
  }

  private SiteLog log(Map<String, TopicDescription> topics) {
    List<TopicPartition> all = new ArrayList<>();
    topics.forEach(
        (name, topic) ->
            topic.partitions().forEach(one -> all.add(new TopicPartition(name, one.partition()))));
    return new SiteLog(kafka, timeout, all);
  }

  private static Map<String, String> ids(Map<String, TopicDescription> topics) {
    Map<String, String> ids = new TreeMap<>();
    topics.forEach((name, topic) -> ids.put(name, topic.topicId().toString()));
    return ids;
  }
}
