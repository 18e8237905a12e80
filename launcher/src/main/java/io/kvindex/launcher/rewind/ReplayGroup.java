// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import io.kvindex.model.topic.Topics;
import io.kvindex.streams.topology.IndexTopology;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;

/**
 * What an application of Kafka Streams has in Kafka: its group with its place in the log, and its
 * changelog, if it keeps one. Those of a rebuild are its own; they are made before it starts and
 * deleted after it.
 */
public final class ReplayGroup {

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long DELETED_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** What Kafka Streams adds to the name of a process for its threads' consumers. */
  private static final Pattern THREAD = Pattern.compile("-StreamThread-\\d+-consumer$");

  private final Admin admin;
  private final String application;

  /**
   * @param admin stays the caller's
   * @param application the group's id
   */
  public ReplayGroup(Admin admin, String application) {
    this.admin = admin;
    this.application = application;
  }

  /**
   * Makes sure that nobody else uses the application, and that nothing of it is left.
   *
   * @param anew whether to delete what is left of an earlier one
   * @throws IllegalStateException if it is in use, or something is left that may not be deleted
   */
  public void claim(boolean anew) throws InterruptedException {
    int processes = processes();
    if (processes > 0) {
      throw new IllegalStateException(
          "application "
              + application
              + " is in use by "
              + processes
              + " process(es); one that was killed is forgotten after some seconds."
              + " Give another --app, or stop them");
    }
    if (!isThere()) {
      return;
    }
    if (!anew) {
      throw new IllegalStateException(
          "application "
              + application
              + " exists: give another --app, or --anew if it is a former rebuild that may be deleted");
    }
    delete();
  }

  /** Processes that are in the group, each with one member for each of its stream threads. */
  private int processes() throws InterruptedException {
    try {
      return (int)
          EventLog.answer(admin.describeConsumerGroups(List.of(application)).all())
              .values()
              .stream()
              .flatMap(group -> group.members().stream())
              .map(member -> THREAD.matcher(member.clientId()).replaceFirst(""))
              .distinct()
              .count();
    } catch (IllegalStateException e) {
      if (e.getCause() instanceof GroupIdNotFoundException) {
        return 0;
      }
      throw e;
    }
  }

  private boolean isThere() throws InterruptedException {
    return topics().contains(changelog())
        || !EventLog.answer(
                admin.listConsumerGroupOffsets(application).partitionsToOffsetAndMetadata())
            .isEmpty();
  }

  private Set<String> topics() throws InterruptedException {
    return EventLog.answer(admin.listTopics().names());
  }

  /** Name of the topic its rows are in. */
  public String changelog() {
    return IndexTopology.changelogOf(application);
  }

  /** Deletes the group and its changelog, if they are there. */
  public void delete() throws InterruptedException {
    try {
      EventLog.answer(admin.deleteConsumerGroups(List.of(application)).all());
    } catch (IllegalStateException e) {
      if (!(e.getCause() instanceof GroupIdNotFoundException)) {
        throw e;
      }
    }
    if (!topics().contains(changelog())) {
      return;
    }
    EventLog.answer(admin.deleteTopics(List.of(changelog())).all());
    long deadline = System.nanoTime() + DELETED_WITHIN_NANOS;
    while (topics().contains(changelog())) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("topic " + changelog() + " does not go away");
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  /**
   * The first record of each partition that the application has not committed; none = never did.
   */
  Map<Integer, Long> committed() throws InterruptedException {
    Map<Integer, Long> places = new HashMap<>();
    EventLog.answer(admin.listConsumerGroupOffsets(application).partitionsToOffsetAndMetadata())
        .forEach(
            (partition, place) -> {
              if (place != null && partition.topic().equals(Topics.EVENTS)) {
                places.put(partition.partition(), place.offset());
              }
            });
    return places;
  }

  /** Says from which records on the application reads. */
  public void startAt(SortedMap<Integer, Long> offsets) throws InterruptedException {
    Map<TopicPartition, OffsetAndMetadata> places = new HashMap<>();
    offsets.forEach(
        (partition, offset) ->
            places.put(
                new TopicPartition(Topics.EVENTS, partition), new OffsetAndMetadata(offset)));
    EventLog.answer(admin.alterConsumerGroupOffsets(application, places).all());
  }
}
