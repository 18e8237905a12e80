// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.bridge.control.Assignment.Entry;
import io.kvindex.bridge.control.Assignment.Newest;
import io.kvindex.model.PublisherId;
import io.kvindex.model.log.OncePerMinute;
import io.kvindex.model.registration.Generations;
import io.kvindex.model.topic.Topics;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This bridge's share of the registrations topic. A partition is read from its beginning to its
 * end, then the progress of its publishers and what the events log has behind it, and only then are
 * they followed: whoever had them before wrote down where to go on. Control thread only, except
 * {@link #isLoaded}.
 */
final class Share {

  private static final Logger LOG = LoggerFactory.getLogger(Share.class);

  private static final long RETRY_NS = TimeUnit.SECONDS.toNanos(1);

  private final Consumer<byte[], byte[]> consumer;
  private final ProgressReader progress;
  private final EventLogReader log;
  private final Publishers publishers;
  private final Lease lease;
  private final Generations generations;
  private final Map<Integer, Assignment> assigned = new ConcurrentHashMap<>();
  private final OncePerMinute warnings = new OncePerMinute();
  private long nextLoadNs = System.nanoTime();

  /**
   * @param consumer in the bridges' group
   * @param log has what progress does not tell yet
   * @param lease kept alive while Kafka is read
   * @param generations of the site's epoch
   */
  Share(
      Consumer<byte[], byte[]> consumer,
      ProgressReader progress,
      EventLogReader log,
      Publishers publishers,
      Lease lease,
      Generations generations) {
    this.consumer = consumer;
    this.progress = progress;
    this.log = log;
    this.publishers = publishers;
    this.lease = lease;
    this.generations = generations;
  }

  /** Whether there is any, and all of it is followed; any thread. */
  boolean isLoaded() {
    return !assigned.isEmpty()
        && assigned.values().stream().allMatch(assignment -> assignment.loaded);
  }

  /** Partitions whose publishers are followed. */
  List<Integer> loaded() {
    return assigned.values().stream().filter(a -> a.loaded).map(a -> a.partition).toList();
  }

  /** These were assigned, and are read from their beginning. */
  void add(Collection<TopicPartition> partitions) {
    consumer.seekToBeginning(partitions);
    partitions.forEach(p -> assigned.put(p.partition(), new Assignment(p.partition())));
  }

  /** That one is another bridge's. */
  void remove(int partition) {
    assigned.remove(partition);
  }

  /** All are, perhaps. */
  void clear() {
    assigned.clear();
  }

  /** Takes a record of the topic. */
  void note(ConsumerRecord<byte[], byte[]> record) throws InterruptedException {
    Assignment assignment = assigned.get(record.partition());
    Entry entry = Assignment.read(record);
    if (assignment == null || entry == null) {
      return;
    }
    if (assignment.loaded) {
      publishers.apply(assignment.partition, entry);
    } else {
      assignment.note(entry, generations);
    }
  }

  /** What can not be read now must not hold up what is followed already. */
  void loadIfDue() throws InterruptedException {
    if (System.nanoTime() - nextLoadNs < 0) {
      return;
    }
    try {
      load();
    } catch (InterruptException e) {
      throw e;
    } catch (KafkaException e) {
      if (warnings.allows()) {
        LOG.warn("registrations can not be read now, which is tried again: {}", e.toString());
      }
      nextLoadNs = System.nanoTime() + RETRY_NS;
    }
  }

  private void load() throws InterruptedException {
    Map<Integer, Assignment> ready = readToTheirEnd();
    if (!ready.isEmpty()) {
      Map<Integer, Map<PublisherId, KnownProgress>> known = progress.read(ready.keySet());
      log.readOn(known.values());
      for (Assignment assignment : ready.values()) {
        follow(assignment, known.getOrDefault(assignment.partition, new HashMap<>()));
      }
    }
  }

  private Map<Integer, Assignment> readToTheirEnd() {
    List<Assignment> waiting = assigned.values().stream().filter(a -> !a.loaded).toList();
    if (waiting.isEmpty()) {
      return Map.of();
    }
    List<Assignment> endless = waiting.stream().filter(a -> a.end < 0).toList();
    if (!endless.isEmpty()) {
      Map<TopicPartition, Long> ends = progress.ends(endless.stream().map(Share::source).toList());
      endless.forEach(assignment -> assignment.end = ends.getOrDefault(source(assignment), 0L));
    }
    Map<Integer, Assignment> ready = new HashMap<>();
    for (Assignment assignment : waiting) {
      lease.renew();
      if (consumer.position(source(assignment), lease.call()) >= assignment.end) {
        ready.put(assignment.partition, assignment);
      }
    }
    return ready;
  }

  private static TopicPartition source(Assignment assignment) {
    return new TopicPartition(Topics.REGISTRATIONS, assignment.partition);
  }

  private void follow(Assignment assignment, Map<PublisherId, KnownProgress> known)
      throws InterruptedException {
    for (Newest newest : assignment.newest.values()) {
      publishers.load(assignment.partition, newest, known.remove(newest.entry().publisher()));
    }
    assignment.newest.clear();
    assignment.loaded = true;
    // Its tombstone is compacted away, but nobody can have registered it again before the end.
    known.forEach(
        (publisher, orphan) ->
            publishers.retire(
                assignment.partition,
                publisher,
                orphan.progress().table(),
                orphan.progress().type(),
                Math.max(orphan.progress().generation() + 1, generations.at(assignment.end - 1))));
  }
}
