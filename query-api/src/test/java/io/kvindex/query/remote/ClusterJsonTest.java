// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.query.remote.ReplicaStatus.Part;
import io.kvindex.streams.PartitionProgress;
import io.kvindex.streams.PartitionProgress.Phase;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What one replica of four tells of all: of itself, one that loads, a dead one, a new one. */
class ClusterJsonTest {

  private static final String OWN = "own:1";
  private static final String BUSY = "busy:1";
  private static final String DEAD = "dead:1";
  private static final String NEW = "new:1";

  private static final Part READY = new Part(0, progress(Phase.READY, 0, 0, 0), 0, 99_812, 3);
  private static final Part LOADING =
      new Part(1, progress(Phase.LOADING, 1_200, 5_000, 400), 17, -1, 0);
  private static final Part ABSENT = new Part(2, progress(Phase.ABSENT, 0, 0, 0), 0, -1, 0);

  private final AtomicLong lateNs = new AtomicLong();
  private final Here here = new Here();
  private final Others others = new Others();
  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final ReplicaWatch watch =
      new ReplicaWatch(
          here,
          () -> List.of(BUSY, DEAD, NEW),
          others,
          metrics,
          () -> System.nanoTime() - lateNs.get());

  @AfterEach
  void close() {
    watch.close();
  }

  private static PartitionProgress progress(Phase phase, long done, long total, long perSecond) {
    return new PartitionProgress(phase, done, total, perSecond);
  }

  /** What each of them has said: the dead one five seconds ago, the new one nothing. */
  private JsonNode describe() {
    others.answer =
        new ReplicaStatus(
            "c", "0.1.0", null, List.of(READY, moved(ABSENT, 1), moved(READY, 2)), Map.of());
    others.speaks = DEAD;
    lateNs.set(TimeUnit.SECONDS.toNanos(5));
    watch.look();
    String reason = "partition 0 is loading its checkpoint: 1200 of 5000 (24 %, 400/s)";
    others.answer =
        new ReplicaStatus(
            "b", "0.1.0", reason, List.of(moved(LOADING, 0), moved(READY, 1), ABSENT), Map.of());
    others.speaks = BUSY;
    for (long ms = 4_750; ms >= 0; ms -= 250) {
      lateNs.set(TimeUnit.MILLISECONDS.toNanos(ms));
      watch.look();
    }
    return new ClusterJson(Relayed.ID, here, watch).describe();
  }

  /** The same of another partition. */
  private static Part moved(Part part, int to) {
    return new Part(to, part.progress(), part.recordsBehind(), part.appliedOffset(), part.since());
  }

  @Test
  void shouldTellItsOwnShares_withPhaseAndHowFarTheyAre() {
    JsonNode cluster = describe();
    assertThat(cluster.path("answered_by").asText()).isEqualTo(OWN);
    assertThat(cluster.path("replicas")).hasSize(4);
    assertThat(cluster.at("/replicas/0"))
        .hasToString(
            "{\"address\":\"own:1\",\"reachable\":true,\"ready\":true,\"copy\":\"own\",\"version\":\"0.1.0\",\"heard_ms_ago\":0,"
                + "\"partitions\":["
                + "{\"partition\":0,\"phase\":\"ready\",\"since\":3,\"records_behind\":0,"
                + "\"applied_offset\":99812},"
                + "{\"partition\":1,\"phase\":\"loading\",\"since\":0,"
                + "\"records_behind\":17,\"applied_offset\":-1,"
                + "\"done\":1200,\"total\":5000,\"per_second\":400}]}");
  }

  @Test
  void shouldTellWhatAnotherOneSaid_whenItLoads() {
    JsonNode busy = describe().at("/replicas/1");
    assertThat(((ObjectNode) busy).remove("heard_ms_ago").asLong()).isBetween(0L, 1_999L);
    assertThat(busy)
        .hasToString(
            "{\"address\":\"busy:1\",\"reachable\":true,\"ready\":false,\"copy\":\"b\",\"version\":\"0.1.0\","
                + "\"not_ready_reason\":"
                + "\"partition 0 is loading its checkpoint: 1200 of 5000 (24 %, 400/s)\","
                + "\"partitions\":["
                + "{\"partition\":0,\"phase\":\"loading\",\"since\":0,"
                + "\"records_behind\":17,\"applied_offset\":-1,"
                + "\"done\":1200,\"total\":5000,\"per_second\":400},"
                + "{\"partition\":1,\"phase\":\"ready\",\"since\":3,\"records_behind\":0,"
                + "\"applied_offset\":99812}]}");
  }

  @Test
  void shouldSayThatOneIsNotReachable_whenItHasBeenSilentForTwoSeconds() {
    JsonNode dead = describe().at("/replicas/2");
    assertThat(dead.path("address").asText()).isEqualTo(DEAD);
    assertThat(dead.path("reachable").asBoolean(true)).isFalse();
    assertThat(dead.path("ready").asBoolean(true)).as("whatever it said last").isFalse();
    assertThat(dead.path("heard_ms_ago").asLong()).isGreaterThanOrEqualTo(5_000);
    assertThat(dead.path("partitions"))
        .as("what it said last, of the partitions it has anything of")
        .hasToString(
            "[{\"partition\":0,\"phase\":\"ready\",\"since\":3,\"records_behind\":0,"
                + "\"applied_offset\":99812},"
                + "{\"partition\":2,\"phase\":\"ready\",\"since\":3,\"records_behind\":0,"
                + "\"applied_offset\":99812}]");
  }

  @Test
  void shouldSayNoMoreThanItsAddress_whenOneHasSaidNothingYet() {
    assertThat(describe().at("/replicas/3"))
        .hasToString("{\"address\":\"new:1\",\"reachable\":false,\"ready\":false}");
  }

  @Test
  void shouldSayWhyOneIsNotReachable_whenItRefuses() {
    others.problem = new ReplicaClient.RefusedException("it answered 404");
    JsonNode busy = describe().at("/replicas/1");
    assertThat(busy.path("problem").asText()).isEqualTo("it answered 404");
    others.problem = null;
    JsonNode mended = describe().at("/replicas/1");
    assertThat(mended.has("problem")).isFalse();
    assertThat(mended.path("reachable").asBoolean()).isTrue();
  }

  /** One of a former version, say. */
  @Test
  void shouldCountItAndSaySo_whenItDoesNotUnderstandOne() {
    others.bytes = new byte[] {1, 1, 2};
    JsonNode busy = describe().at("/replicas/1");
    assertThat(busy.path("reachable").asBoolean(true)).isFalse();
    assertThat(busy.path("problem").asText()).startsWith("not understood: ").contains("version 1");
    assertThat(metrics.counter("kvindex.status.not.understood").count()).isGreaterThan(1);
  }

  @Test
  void shouldTellWhoHoldsEachPartition() {
    assertThat(describe().path("partitions"))
        .hasToString(
            "[{\"partition\":0,\"holders\":[\"own:1\"]},"
                + "{\"partition\":1,\"holders\":[\"busy:1\"]},"
                + "{\"partition\":2,\"holders\":[]}]");
  }

  private static final class Here extends Relayed.Placed {

    Here() {
      super("");
    }

    @Override
    public int partitions() {
      return 3;
    }

    /** Of the first one only. */
    @Override
    public @Nullable PartitionView view(int partition) {
      return partition > 0
          ? null
          : (PartitionView)
              Proxy.newProxyInstance(
                  ClusterJsonTest.class.getClassLoader(),
                  new Class<?>[] {PartitionView.class},
                  (proxy, method, arguments) ->
                      switch (method.getName()) {
                        case "appliedOffset" -> READY.appliedOffset();
                        case "since" -> READY.since();
                        case "isClosed" -> false;
                        default -> throw new UnsupportedOperationException(method.getName());
                      });
    }

    @Override
    public boolean keepsUp(int partition) {
      return partition == 0;
    }

    @Override
    public PartitionProgress progress(int partition) {
      return List.of(READY, LOADING, ABSENT).get(partition).progress();
    }

    @Override
    public long recordsBehind(int partition) {
      return List.of(READY, LOADING, ABSENT).get(partition).recordsBehind();
    }
  }

  /** One of them answers. */
  private static final class Others implements Transport {
    private String speaks = "";
    private ReplicaStatus answer = new ReplicaStatus("", "", null, List.of(), Map.of());
    private @Nullable Throwable problem;
    private byte @Nullable [] bytes;

    @Override
    public void ask(String address, String path, byte[] body, long forNanos, Reply reply) {
      if (address.equals(speaks)) {
        if (problem != null) {
          reply.told(null, problem);
        } else {
          reply.told(bytes == null ? PlainMessage.encode(answer) : bytes, null);
        }
      }
    }
  }
}
