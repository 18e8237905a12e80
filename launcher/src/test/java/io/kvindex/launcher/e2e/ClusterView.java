// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

/** What {@code /cluster} has to say of replicas, and their metrics with it. */
final class ClusterView {

  private static final Duration SOON = Duration.ofSeconds(60);

  /** As {@code kvindex index} makes the events topic. */
  private static final int PARTITIONS = 12;

  /** No partition. */
  static final int NONE = -1;

  /** One replica's share of a partition. */
  private record Share(String role, String phase, long behind, boolean isCounted) {}

  private ClusterView() {}

  /** {@code host:port} a replica tells the others. */
  static String address(Api api) {
    return api.get("/cluster").path("answered_by").asText();
  }

  private static Set<String> addresses(List<Api> replicas) {
    Set<String> addresses = new TreeSet<>();
    replicas.forEach(replica -> addresses.add(address(replica)));
    return addresses;
  }

  /**
   * Waits until each of the replicas says that each partition is kept up by one of them and copied
   * by just one other, that all of this is ready, and that nothing is behind.
   *
   * @param loaded the partition that has rows, {@link #NONE}
   */
  static void awaitAtRest(List<Api> replicas, int loaded) {
    Set<String> addresses = addresses(replicas);
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              List<JsonNode> answers = replicas.stream().map(one -> one.get("/cluster")).toList();
              for (int i = 0; i < answers.size(); i++) {
                assertWhole(answers.get(i), addresses);
                assertOneCopy(answers.get(i));
                assertSameOffsets(answers.get(i), loaded);
                assertThat(answers.get(i).path("partitions"))
                    .isEqualTo(answers.get(0).path("partitions"));
                assertMetrics(replicas.get(i), answers.get(i).at("/replicas/0/partitions"));
              }
            });
  }

  /**
   * Waits until each of them says that all are there, and of each partition that it is ready where
   * it is kept up and where it is copied. It may be in one more place, where it is warmed up
   * because the group means to move it there.
   */
  static void awaitWhole(List<Api> replicas) {
    Set<String> addresses = addresses(replicas);
    for (Api replica : replicas) {
      await().atMost(SOON).untilAsserted(() -> assertWhole(replica.get("/cluster"), addresses));
    }
  }

  /** All replicas are there and ready, and what they hold is what is said of the partitions. */
  private static void assertWhole(JsonNode cluster, Set<String> addresses) {
    assertThat(cluster.at("/replicas/0/address")).isEqualTo(cluster.path("answered_by"));
    Map<String, Map<Integer, Share>> told = new TreeMap<>();
    for (JsonNode replica : cluster.path("replicas")) {
      assertThat(replica.path("ready").asBoolean()).as(replica.toString()).isTrue();
      assertThat(replica.path("reachable").asBoolean()).as(replica.toString()).isTrue();
      assertThat(replica.has("not_ready_reason")).isFalse();
      assertThat(replica.path("heard_ms_ago").asLong(-1)).isBetween(0L, 2_000L);
      told.put(replica.path("address").asText(), shares(replica));
    }
    assertThat(told.keySet()).isEqualTo(addresses);
    Map<String, Map<Integer, Share>> held = new TreeMap<>();
    addresses.forEach(address -> held.put(address, new TreeMap<>()));
    assertThat(cluster.path("partitions")).hasSize(PARTITIONS);
    for (JsonNode partition : cluster.path("partitions")) {
      int number = partition.path("partition").asInt();
      List<String> standbys = texts(partition.path("standbys"));
      assertThat(standbys).as(partition.toString()).isNotEmpty().doesNotHaveDuplicates();
      assertThat(standbys).doesNotContain(partition.path("active").asText());
      standbys.forEach(one -> of(one, held).put(number, atRest("standby")));
      of(partition.path("active").asText(), held).put(number, atRest("active"));
    }
    assertThat(told).isEqualTo(held);
  }

  private static <T> Map<Integer, T> of(String replica, Map<String, Map<Integer, T>> all) {
    return all.computeIfAbsent(replica, address -> new TreeMap<>());
  }

  private static Share atRest(String role) {
    return new Share(role, "ready", 0, false);
  }

  private static Map<Integer, Share> shares(JsonNode replica) {
    Map<Integer, Share> shares = new TreeMap<>();
    for (JsonNode one : replica.path("partitions")) {
      shares.put(
          one.path("partition").asInt(),
          new Share(
              one.path("role").asText(),
              one.path("phase").asText(),
              one.path("records_behind").asLong(-1),
              one.has("done") || one.has("total") || one.has("per_second")));
    }
    return shares;
  }

  private static void assertOneCopy(JsonNode cluster) {
    for (JsonNode partition : cluster.path("partitions")) {
      assertThat(partition.path("standbys")).as(partition.toString()).hasSize(1);
    }
  }

  /** Whoever has a partition has it up to the same record, of which only one partition has any. */
  private static void assertSameOffsets(JsonNode cluster, int loaded) {
    Map<Integer, SortedSet<Long>> offsets = new TreeMap<>();
    for (JsonNode one : cluster.path("replicas").findParents("applied_offset")) {
      offsets
          .computeIfAbsent(one.path("partition").asInt(), partition -> new TreeSet<>())
          .add(one.path("applied_offset").asLong());
    }
    offsets.forEach(
        (partition, all) -> {
          assertThat(all).as("offsets applied of partition " + partition).hasSize(1);
          assertThat(all.first() >= 0).as("partition " + partition).isEqualTo(partition == loaded);
        });
  }

  /**
   * Ready is also what others hold, since it may be asked for here. What was here until a moment
   * ago grows old, so that there is nothing to be said of what is not.
   */
  private static void assertMetrics(Api api, JsonNode own) {
    Map<String, Double> ready = new TreeMap<>();
    Map<String, Double> progress = new TreeMap<>();
    Map<String, Double> behind = new TreeMap<>();
    IntStream.range(0, PARTITIONS).forEach(partition -> ready.put(label(partition), 1.0));
    ready.keySet().forEach(partition -> progress.put(partition, 0.0));
    for (JsonNode one : own) {
      progress.put(label(one.path("partition").asInt()), 1.0);
      behind.put(label(one.path("partition").asInt()), 0.0);
    }
    assertThat(api.samples("kvindex_partition_ready")).isEqualTo(ready);
    assertThat(api.samples("kvindex_partition_progress")).isEqualTo(progress);
    assertThat(api.samples("kvindex_partition_age_seconds")).containsAllEntriesOf(behind);
    assertThat(api.samples("kvindex_kafka_lag")).containsAllEntriesOf(behind);
  }

  private static String label(int partition) {
    return "{partition=\"" + partition + "\"}";
  }

  /** Waits until a replica says that another one is not to be reached. */
  static void awaitUnreachable(Api api, String other) {
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              JsonNode silent = replica(api.get("/cluster"), other);
              assertThat(silent.path("reachable").asBoolean()).as(silent.toString()).isFalse();
              assertThat(silent.path("ready").asBoolean()).as(silent.toString()).isFalse();
              assertThat(silent.path("heard_ms_ago").asLong()).isGreaterThan(2_000);
            });
  }

  /** Waits until a replica says that another one is none any more, and others hold everything. */
  static void awaitForgotten(Api api, String other) {
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              JsonNode cluster = api.get("/cluster");
              assertThat(cluster.toString()).doesNotContain("\"" + other + "\"");
              for (JsonNode partition : cluster.path("partitions")) {
                assertThat(partition.path("active").isTextual()).as(partition.toString()).isTrue();
              }
            });
  }

  /**
   * Looks at what a process that was just started says of itself until it is ready: first that it
   * is not and why, of partitions that are not ready either.
   */
  static void awaitReadyAgain(ServerProcess started) {
    List<JsonNode> before = new ArrayList<>();
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(20))
        .atMost(Duration.ofSeconds(180))
        .until(
            () -> {
              started.process().requireAlive();
              JsonNode own = look(started.api());
              boolean ready = own.path("ready").asBoolean();
              if (!ready && !own.isMissingNode()) {
                before.add(own);
              }
              return ready;
            });
    assertThat(before).as("looks at a replica that is not ready").isNotEmpty();
    Set<String> phases = new TreeSet<>();
    for (JsonNode look : before) {
      assertThat(look.path("reachable").asBoolean()).isTrue();
      assertThat(look.path("not_ready_reason").asText()).startsWith("partition ").contains(" is ");
      shares(look).values().forEach(share -> phases.add(share.phase()));
    }
    assertThat(phases)
        .as("in %d looks before it was ready", before.size())
        .containsAnyOf("absent", "restoring", "loading", "catching_up");
  }

  /** What a process says of itself, nothing while nobody listens there. */
  private static JsonNode look(Api api) {
    try {
      return api.get("/cluster").at("/replicas/0");
    } catch (UncheckedIOException e) {
      return Api.JSON.missingNode();
    }
  }

  private static JsonNode replica(JsonNode cluster, String address) {
    return IntStream.range(0, cluster.path("replicas").size())
        .mapToObj(i -> cluster.path("replicas").path(i))
        .filter(one -> one.path("address").asText().equals(address))
        .findAny()
        .orElse(Api.JSON.missingNode());
  }

  private static List<String> texts(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false).map(JsonNode::asText).toList();
  }
}
