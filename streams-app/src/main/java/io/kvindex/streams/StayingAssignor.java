// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.streams.errors.TaskAssignmentException;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment.AssignedTask;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsState;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.assignment.TaskAssignor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says which replica owns which partition and which have copies, whenever the group changes. What
 * has an owner stays where it is; what has none goes to who has the best copy; for balance
 * partitions move one by one to copies that are close. Kafka Streams' own assignor (4.3.1, {@code
 * HighAvailabilityTaskAssignor}) spreads all of them anew each time, and each that moves stands
 * still for a second (ADR 0007).
 *
 * <p>Who has just left is waited for ({@link Absence}): copies that would have to be read from the
 * changelog are not made meanwhile, and nothing moves for balance. It is often back in ten seconds,
 * and they would be thrown away, while the owners need the machine more than before.
 *
 * <p>Made by Kafka Streams for each assignment, on the replica that leads the group.
 */
public final class StayingAssignor implements TaskAssignor {

  private static final Logger LOG = LoggerFactory.getLogger(StayingAssignor.class);

  private Absence absence = new Absence(Duration.ZERO, InstantSource.system());

  @Override
  public void configure(Map<String, ?> configs) {
    if (configs.get(Absence.SETTING) instanceof Absence given) {
      absence = given;
    }
  }

  @Override
  public TaskAssignment assign(ApplicationState application) {
    AssignmentConfigs configs = application.assignmentConfigs();
    Map<ProcessId, PlacedReplica> replicas = new TreeMap<>();
    states(application).forEach((id, state) -> replicas.put(id, PlacedReplica.of(state, configs)));
    List<TaskId> tasks = application.allTasks().keySet().stream().sorted().toList();
    Instant awaited = absence.see(replicas.keySet(), hasOrphans(replicas.values(), tasks));
    PartitionPlan plan =
        new PartitionPlan(new ArrayList<>(replicas.values()), tasks, configs, awaited != null);
    plan.make();
    List<KafkaStreamsAssignment> all =
        new ArrayList<>(replicas.values().stream().map(StayingAssignor::assignment).toList());
    if (!plan.isSettled() && !all.isEmpty()) {
      Instant probing = Instant.now().plusMillis(configs.probingRebalanceIntervalMs());
      Instant next = awaited == null ? probing : awaited;
      all.set(0, all.get(0).withFollowupRebalance(next));
    }
    LOG.info("partitions settled={} awaited={} {}", plan.isSettled(), awaited, replicas.values());
    return new TaskAssignment(all);
  }

  private static boolean hasOrphans(Collection<PlacedReplica> replicas, List<TaskId> tasks) {
    long owned =
        tasks.stream()
            .filter(task -> replicas.stream().anyMatch(replica -> replica.ownedBefore(task)))
            .count();
    return owned > 0 && owned < tasks.size();
  }

  /** Where Kafka does not say how long the changelogs are, who had what has to do. */
  private static Map<ProcessId, KafkaStreamsState> states(ApplicationState application) {
    try {
      return application.kafkaStreamsStates(true);
    } catch (TaskAssignmentException e) {
      LOG.warn("Kafka does not say how far copies are: partitions go to who had them", e);
      return application.kafkaStreamsStates(false);
    }
  }

  private static KafkaStreamsAssignment assignment(PlacedReplica replica) {
    return KafkaStreamsAssignment.of(
        replica.id(),
        Stream.concat(
                replica.owned().stream()
                    .map(task -> new AssignedTask(task, AssignedTask.Type.ACTIVE)),
                replica.copied().stream()
                    .map(task -> new AssignedTask(task, AssignedTask.Type.STANDBY)))
            .collect(Collectors.toSet()));
  }

  /** What distinguishes a replica for copies; empty = nothing was said. */
  static Optional<String> rack(KafkaStreamsState state, AssignmentConfigs configs) {
    return configs.rackAwareAssignmentTags().stream()
        .map(tag -> state.clientTags().get(tag))
        .filter(Objects::nonNull)
        .findFirst();
  }
}
