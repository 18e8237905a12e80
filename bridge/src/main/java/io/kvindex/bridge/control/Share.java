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
import java.util.function.Function;
import java.util.stream.Collectors;
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
  private final WholeReader whole;
  private final ProgressReader progress;
  private final EventLogReader log;
  private final Publishers publishers;
  private final Generations generations;
  private final Map<Integer, Assignment> assigned = new ConcurrentHashMap<>();
  private final OncePerMinute warnings = new OncePerMinute();
  private long nextLoadNs = System.nanoTime();

  /**
   * @param consumer in the bridges' group
   * @param whole reads what was assigned
   * @param log has what progress does not tell yet
   * @param generations of the site's epoch
   */
  Share(
      Consumer<byte[], byte[]> consumer,
      WholeReader whole,
      ProgressReader progress,
      EventLogReader log,
      Publishers publishers,
      Generations generations) {
    this.consumer = consumer;
    this.whole = whole;
    this.progress = progress;
    this.log = log;
    this.publishers = publishers;
    this.generations = generations;
  }

  /** Whether there is any, and all of it is followed; any thread. */
  boolean isLoaded() {
    return !assigned.isEmpty()
        && assigned.values().stream().allMatch(assignment -> assignment.loaded);
  }

  /** Whether it is this bridge's, loaded or about to be; any thread. */
  boolean has(int partition) {
    return assigned.containsKey(partition);
  }

  /** Whether a partition's publishers are followed. */
  boolean hasLoaded(int partition) {
    Assignment assignment = assigned.get(partition);
    return assignment != null && assignment.loaded;
  }

  /**
   * These were assigned, and are read from their beginning: by the consumer without a group, since
   * the group's asks for them no sooner than the fetch that waits for records of others is over.
   */
  void add(Collection<TopicPartition> partitions) {
    consumer.pause(partitions);
    partitions.forEach(
        p -> consumer.seek(p, 0)); // else their place is asked for, which nobody needs
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

  /** Takes a record of the topic that lies behind what was loaded. */
  void note(ConsumerRecord<byte[], byte[]> record) throws InterruptedException {
    Assignment assignment = assigned.get(record.partition());
    Entry entry = Assignment.read(record);
    if (assignment != null && entry != null) {
      publishers.apply(assignment.partition, entry);
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
    Map<Integer, Assignment> waiting =
        assigned.values().stream()
            .filter(assignment -> !assignment.loaded)
            .collect(Collectors.toMap(assignment -> assignment.partition, Function.identity()));
    if (waiting.isEmpty()) {
      return;
    }
    waiting.values().forEach(assignment -> assignment.newest.clear()); // of a read that failed
    Map<TopicPartition, Long> ends =
        whole.read(
            waiting.values().stream().map(Share::source).toList(),
            record -> noteBeforeEnd(waiting, record));
    Map<Integer, Map<PublisherId, KnownProgress>> known = progress.read(waiting.keySet());
    log.readOn(known.values());
    for (Assignment assignment : waiting.values()) {
      TopicPartition source = source(assignment);
      long end = ends.getOrDefault(source, 0L);
      follow(assignment, end, known.getOrDefault(assignment.partition, new HashMap<>()));
      consumer.seek(source, end);
      consumer.resume(List.of(source));
    }
  }

  private void noteBeforeEnd(
      Map<Integer, Assignment> waiting, ConsumerRecord<byte[], byte[]> record) {
    Assignment assignment = waiting.get(record.partition());
    Entry entry = Assignment.read(record);
    if (assignment != null && entry != null) {
      assignment.note(entry, generations);
    }
  }

  private static TopicPartition source(Assignment assignment) {
    return new TopicPartition(Topics.REGISTRATIONS, assignment.partition);
  }

  private void follow(Assignment assignment, long end, Map<PublisherId, KnownProgress> known)
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
                Math.max(orphan.progress().generation() + 1, generations.at(end - 1))));
  }
}
