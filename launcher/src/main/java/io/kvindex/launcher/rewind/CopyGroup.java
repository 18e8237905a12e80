// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.GroupNotEmptyException;
import org.jspecify.annotations.Nullable;

/** All that a copy has in Kafka: the group of its processes, and how far they said they were. */
public final class CopyGroup {

  /** What Kafka Streams adds to the name of a process for its threads' consumers. */
  private static final Pattern THREAD = Pattern.compile("-StreamThread-\\d+-consumer$");

  private final Admin admin;
  private final String copy;
  private final String id;

  /**
   * @param admin stays the caller's
   * @param copy its name
   * @param id the group's
   */
  public CopyGroup(Admin admin, String copy, String id) {
    this.admin = admin;
    this.copy = copy;
    this.id = id;
  }

  /**
   * Makes sure that a copy of that name may be made.
   *
   * @throws IllegalStateException if there is one
   */
  public void requireNone() throws InterruptedException {
    ConsumerGroupDescription found = find();
    if (found != null) {
      requireEmpty(found);
      throw new IllegalStateException(
          "there was a copy named "
              + copy
              + " elsewhere: give another --copy, or, if that one is gone for good, kvindex forget --copy "
              + copy);
    }
  }

  /**
   * Deletes the group.
   *
   * @return false if there is none
   * @throws IllegalStateException if processes of that copy run
   */
  public boolean delete() throws InterruptedException {
    ConsumerGroupDescription found = find();
    if (found == null) {
      return false;
    }
    requireEmpty(found);
    try {
      EventLog.answer(admin.deleteConsumerGroups(List.of(id)).all());
    } catch (IllegalStateException e) {
      if (e.getCause() instanceof GroupNotEmptyException) {
        throw new IllegalStateException("copy " + copy + " is in use: stop it first", e);
      }
      if (!(e.getCause() instanceof GroupIdNotFoundException)) {
        throw e;
      }
    }
    return true;
  }

  /** Each process has one member for each of its stream threads. */
  private void requireEmpty(ConsumerGroupDescription group) {
    long processes =
        group.members().stream()
            .map(member -> THREAD.matcher(member.clientId()).replaceFirst(""))
            .distinct()
            .count();
    if (processes > 0) {
      throw new IllegalStateException(
          "copy "
              + copy
              + " is in use by "
              + processes
              + " process(es): stop them first; one that was killed is forgotten after some seconds");
    }
  }

  private @Nullable ConsumerGroupDescription find() throws InterruptedException {
    try {
      ConsumerGroupDescription found =
          Objects.requireNonNull(
              EventLog.answer(admin.describeConsumerGroups(List.of(id)).all()).get(id));
      return found.groupState() == GroupState.DEAD ? null : found;
    } catch (IllegalStateException e) {
      if (e.getCause() instanceof GroupIdNotFoundException) {
        return null;
      }
      throw e;
    }
  }
}
