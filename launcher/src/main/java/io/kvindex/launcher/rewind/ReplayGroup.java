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
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;

/**
 * What an application of Kafka Streams has in Kafka: its group with its place in the log, and its
 * changelog. Those of a rebuild are its own; they are made before it starts and deleted after it.
 */
public final class ReplayGroup {

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long DELETED_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(20);

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
    int members = members();
    if (members > 0) {
      throw new IllegalStateException(
          "application "
              + application
              + " is in use by "
              + members
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

  /** How many processes are in the group. */
  public int members() throws InterruptedException {
    try {
      return EventLog.answer(admin.describeConsumerGroups(List.of(application)).all())
          .values()
          .stream()
          .mapToInt(group -> group.members().size())
          .sum();
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
    return application + "-" + IndexTopology.STORE + "-changelog";
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
