// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.e2e.StandInReplica;
import io.kvindex.launcher.e2e.StandInReplica.Reply;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MarkerWatchTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int NUMBER_OF_A_TEXT = 1;

  private final DrillEngine engine = Drills.engine("one");
  private final Markers markers =
      new Markers(List.of(Drills.table(engine)), new Semaphore(1), Drills.RUN);
  private final Staleness staleness = new Staleness();
  private final Tallies tallies = new Tallies();

  /** Numbers of the chains that were asked for, question by question. */
  private final List<List<Integer>> asked = new CopyOnWriteArrayList<>();

  /** Blocks shown of each chain, all where it is not said. */
  private final Map<Integer, Integer> shown = new ConcurrentHashMap<>();

  private volatile int status = 200;
  private volatile int statusOfOne = 200;
  private StandInReplica server;
  private RouterReplica replica;
  private MarkerWatch watch;

  @BeforeEach
  void start() throws IOException {
    server = new StandInReplica(this::reply);
    replica = new RouterReplica("index-1", server.uri());
    watch = new MarkerWatch(replica, markers, staleness, tallies, Duration.ofSeconds(30));
  }

  @AfterEach
  void close() {
    server.close();
    engine.close();
  }

  private Reply reply(JsonNode question) {
    ArrayNode answers = JSON.createArrayNode();
    List<Integer> numbers = new ArrayList<>();
    for (JsonNode query : question.path("queries")) {
      int number = query.path("token_ids").get(NUMBER_OF_A_TEXT).asInt();
      numbers.add(number);
      ObjectNode answer = answers.addObject().put("status", statusOfOne);
      int blocks = shown.getOrDefault(number, MarkerChain.LENGTH);
      answer.putObject("body").set("default", Drills.rows("one", blocks));
    }
    asked.add(numbers);
    ObjectNode body = JSON.createObjectNode();
    body.set("answers", answers);
    return new Reply(status, Map.of(), body.toString());
  }

  private void mark(int times) {
    for (int i = 0; i < times; i++) {
      markers.run();
    }
  }

  private boolean isCalm() {
    return staleness.isCalm(List.of("index-1"), System.nanoTime() - Drills.ms(60_000));
  }

  @Test
  void shouldBeCalm_whenAllMarkersAreShown() {
    mark(3);
    watch.run();
    assertThat(staleness.peakNs()).isZero();
    assertThat(isCalm()).isTrue();
    assertThat(tallies.current().refused).hasValue(0);
  }

  @Test
  void shouldNoteTheAge_whenOneIsMissing() {
    mark(1);
    long afterFirst = System.nanoTime();
    mark(2);
    shown.put(1, 1);
    long before = System.nanoTime();
    watch.run();
    assertThat(staleness.peakNs()).isBetween(1L, System.nanoTime() - afterFirst);
    shown.put(1, 0);
    watch.run();
    assertThat(staleness.peakNs()).isGreaterThan(before - afterFirst);
  }

  @Test
  void shouldTellWhoIsBehind_whenItIsForMoreThanASecond() {
    mark(1);
    shown.put(1, 0);
    await()
        .untilAsserted(
            () -> {
              watch.run();
              assertThat(staleness.windows())
                  .singleElement()
                  .satisfies(
                      window -> {
                        assertThat(window.replica()).isEqualTo("index-1");
                        assertThat(window.what()).isEqualTo("one of drill-0");
                      });
            });
    assertThat(isCalm()).isFalse();
  }

  /** Chains that are over and shown whole are right for good; those that are not may be behind. */
  @Test
  void shouldAskAgainForAChainThatHasEnded_onlyUntilItIsShownWhole() {
    mark(MarkerChain.LENGTH + 1);
    shown.put(1, MarkerChain.LENGTH - 1);
    watch.run();
    shown.remove(1);
    watch.run();
    watch.run();
    assertThat(asked).containsExactly(List.of(1, 2), List.of(1, 2), List.of(2));
  }

  @Test
  void shouldBlameAReplicaThatRuns_whenItRefusesAQuestion() {
    statusOfOne = 503;
    mark(1);
    watch.run();
    assertThat(tallies.current().refused).hasValue(1);
    assertThat(tallies.findings()).singleElement().asString().contains("index-1", "503");
    assertThat(isCalm()).as("nobody is told anything").isFalse();
  }

  @Test
  void shouldBlameAReplicaThatRuns_whenItRefusesAll() {
    status = 500;
    mark(1);
    watch.run();
    assertThat(tallies.current().refused).hasValue(1);
    assertThat(tallies.findings()).singleElement().asString().contains("index-1", "500");
    assertThat(isCalm()).isFalse();
  }

  @Test
  void shouldBlameNobody_whenTheReplicaWasKilled() {
    mark(1);
    replica.disturb();
    statusOfOne = 503;
    watch.run();
    server.close();
    watch.run();
    assertThat(tallies.current().refused).hasValue(0);
    assertThat(tallies.count()).isZero();
    assertThat(staleness.windows()).as("nobody is misled").isEmpty();
  }
}
