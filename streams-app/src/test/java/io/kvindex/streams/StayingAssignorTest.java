// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ApplicationState;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsAssignment.AssignedTask;
import org.apache.kafka.streams.processor.assignment.KafkaStreamsState;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.junit.jupiter.api.Test;

/** What Kafka Streams is told of a plan. */
class StayingAssignorTest {

  private static final ProcessId A = new ProcessId(new UUID(0, 1));
  private static final ProcessId B = new ProcessId(new UUID(0, 2));
  private static final TaskId FIRST = new TaskId(0, 0);
  private static final TaskId SECOND = new TaskId(0, 1);
  private static final Instant NOW = Instant.parse("2026-11-25T00:00:00Z");
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final AssignmentConfigs CONFIGS =
      new AssignmentConfigs(1_000L, 2, 1, 60_000L, List.of());

  private final Map<ProcessId, KafkaStreamsState> present = new HashMap<>();
  private final Absence absence = new Absence(PATIENCE, () -> NOW);

  /** Stands in for an interface of Kafka Streams that has more methods than are asked. */
  private static <T> T answering(Class<T> type, Map<String, Object> answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                Objects.requireNonNull(answers.get(method.getName()), method.getName())));
  }

  private void replica(ProcessId id, Set<TaskId> owned, Set<TaskId> copied) {
    Map<TaskId, Long> lags = new HashMap<>();
    Stream.concat(owned.stream(), copied.stream()).forEach(task -> lags.put(task, 0L));
    present.put(
        id,
        answering(
            KafkaStreamsState.class,
            Map.of(
                "processId",
                id,
                "previousActiveTasks",
                new TreeSet<>(owned),
                "previousStandbyTasks",
                new TreeSet<>(copied),
                "statefulTasksToLagSums",
                lags,
                "clientTags",
                Map.of())));
  }

  private Map<ProcessId, KafkaStreamsAssignment> assign() {
    StayingAssignor assignor = new StayingAssignor();
    assignor.configure(Map.of(Absence.SETTING, absence));
    ApplicationState application =
        answering(
            ApplicationState.class,
            Map.of(
                "assignmentConfigs", CONFIGS,
                "kafkaStreamsStates", Map.copyOf(present),
                "allTasks", Map.of(FIRST, FIRST, SECOND, SECOND)));
    Map<ProcessId, KafkaStreamsAssignment> all = new HashMap<>();
    assignor.assign(application).assignment().forEach(one -> all.put(one.processId(), one));
    return all;
  }

  private static Set<AssignedTask> tasks(Map<ProcessId, KafkaStreamsAssignment> all, ProcessId id) {
    return Set.copyOf(Objects.requireNonNull(all.get(id)).tasks().values());
  }

  private static Optional<Instant> followup(Map<ProcessId, KafkaStreamsAssignment> all) {
    return all.values().stream().flatMap(one -> one.followupRebalanceDeadline().stream()).findAny();
  }

  private static AssignedTask active(TaskId task) {
    return new AssignedTask(task, AssignedTask.Type.ACTIVE);
  }

  private static AssignedTask standby(TaskId task) {
    return new AssignedTask(task, AssignedTask.Type.STANDBY);
  }

  @Test
  void shouldLeaveAllAsItIs_whenItIsSettled() {
    replica(A, Set.of(FIRST), Set.of(SECOND));
    replica(B, Set.of(SECOND), Set.of(FIRST));
    Map<ProcessId, KafkaStreamsAssignment> all = assign();
    assertThat(tasks(all, A)).containsExactlyInAnyOrder(active(FIRST), standby(SECOND));
    assertThat(tasks(all, B)).containsExactlyInAnyOrder(active(SECOND), standby(FIRST));
    assertThat(followup(all)).isEmpty();
  }

  @Test
  void shouldLookAgain_whenWhoLeftIsAwaitedNoLonger() {
    replica(A, Set.of(FIRST), Set.of(SECOND));
    replica(B, Set.of(SECOND), Set.of(FIRST));
    assign();
    present.remove(B);
    Map<ProcessId, KafkaStreamsAssignment> all = assign();
    assertThat(tasks(all, A)).containsExactlyInAnyOrder(active(FIRST), active(SECOND));
    assertThat(followup(all)).contains(NOW.plus(PATIENCE));
  }

  @Test
  void shouldBeGivenWhatItRemembersBy_throughKafkaStreams() {
    IndexerConfig config = IndexerConfig.on(Map.of("bootstrap.servers", "h:1"), Path.of("state"));
    Object handed =
        new StreamsConfig(StreamsSettings.of(config, 1))
            .getMainConsumerConfigs("group", "client", 0)
            .get(Absence.SETTING);
    assertThat(handed).isInstanceOf(Absence.class);
  }
}
