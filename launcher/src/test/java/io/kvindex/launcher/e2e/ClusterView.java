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

  /** One replica's table of a partition. */
  private record Share(String phase, long behind, boolean isCounted) {
    private static final Share AT_REST = new Share("ready", 0, false);
  }

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
   * Waits until each of the replicas says that all of them have every partition ready, and that
   * nothing is behind.
   *
   * @param loaded the partition that has events, {@link #NONE}
   */
  static void awaitAtRest(List<Api> replicas, int loaded) {
    Set<String> addresses = addresses(replicas);
    for (Api replica : replicas) {
      await()
          .atMost(SOON)
          .untilAsserted(
              () -> {
                JsonNode cluster = replica.get("/cluster");
                assertWhole(cluster, addresses);
                assertSameOffsets(cluster, loaded);
                assertMetrics(replica, cluster.at("/replicas/0/partitions"));
              });
    }
  }

  /** Waits until each of them says that all are there, and have every partition ready. */
  static void awaitWhole(List<Api> replicas) {
    Set<String> addresses = addresses(replicas);
    for (Api replica : replicas) {
      await().atMost(SOON).untilAsserted(() -> assertWhole(replica.get("/cluster"), addresses));
    }
  }

  /** All replicas are there and ready, each a copy of its own, and all have everything. */
  private static void assertWhole(JsonNode cluster, Set<String> addresses) {
    String own = cluster.path("answered_by").asText();
    assertThat(cluster.at("/replicas/0/address").asText()).isEqualTo(own);
    Map<Integer, Share> everything = new TreeMap<>();
    IntStream.range(0, PARTITIONS).forEach(p -> everything.put(p, Share.AT_REST));
    Set<String> told = new TreeSet<>();
    Set<String> copies = new TreeSet<>();
    for (JsonNode replica : cluster.path("replicas")) {
      assertThat(replica.path("ready").asBoolean()).as(replica.toString()).isTrue();
      assertThat(replica.path("reachable").asBoolean()).as(replica.toString()).isTrue();
      assertThat(replica.has("not_ready_reason")).isFalse();
      assertThat(replica.path("heard_ms_ago").asLong(-1)).isBetween(0L, 2_000L);
      assertThat(shares(replica)).as(replica.toString()).isEqualTo(everything);
      told.add(replica.path("address").asText());
      copies.add(replica.path("copy").asText());
    }
    assertThat(told).isEqualTo(addresses);
    assertThat(copies).hasSameSizeAs(addresses);
    assertThat(cluster.path("partitions")).hasSize(PARTITIONS);
    for (JsonNode partition : cluster.path("partitions")) {
      List<String> holders = texts(partition.path("holders"));
      assertThat(holders).containsExactlyInAnyOrderElementsOf(addresses).startsWith(own);
    }
  }

  private static Map<Integer, Share> shares(JsonNode replica) {
    Map<Integer, Share> shares = new TreeMap<>();
    for (JsonNode one : replica.path("partitions")) {
      shares.put(
          one.path("partition").asInt(),
          new Share(
              one.path("phase").asText(),
              one.path("records_behind").asLong(-1),
              one.has("done") || one.has("total") || one.has("per_second")));
    }
    return shares;
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

  /** Waits until a replica says that another one is not to be reached, and holds nothing. */
  static void awaitUnreachable(Api api, String other) {
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              JsonNode cluster = api.get("/cluster");
              JsonNode silent = replica(cluster, other);
              assertThat(silent.path("reachable").asBoolean(true)).as(silent.toString()).isFalse();
              assertThat(silent.path("ready").asBoolean(true)).as(silent.toString()).isFalse();
              assertThat(silent.path("problem").asText()).isNotEmpty();
              for (JsonNode partition : cluster.path("partitions")) {
                assertThat(texts(partition.path("holders"))).isNotEmpty().doesNotContain(other);
              }
            });
  }

  /**
   * Looks at what a process that was just started says of itself until it is ready: that it is not,
   * if it is asked soon enough, and why.
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
    for (JsonNode look : before) {
      assertThat(look.path("reachable").asBoolean()).isTrue();
      assertThat(look.path("not_ready_reason").asText()).startsWith("partition ").contains(" is ");
    }
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
