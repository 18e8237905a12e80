// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.kvindex.launcher.e2e.ChildProcess;
import io.kvindex.launcher.e2e.StandInReplica;
import io.kvindex.launcher.e2e.StandInReplica.Reply;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RouterTest {

  private static final Reply RIGHT = Reply.ok("{\"default\":{}}");
  private static final Reply REFUSAL = Reply.refusal("not ready");
  private static final Duration LONG = Duration.ofSeconds(30);

  private final Tallies tallies = new Tallies();
  private final Tally tally = tallies.current();

  private Router router(Duration timeout, RouterReplica... replicas) {
    return new Router(List.of(replicas), tallies, timeout);
  }

  private static RouterReplica named(String name, StandInReplica replica) {
    return new RouterReplica(name, replica.uri());
  }

  private Router.Answer answer(Router router) throws Exception {
    return ask(router).get(30, TimeUnit.SECONDS);
  }

  private CompletableFuture<Router.Answer> ask(Router router) {
    return router.ask("{\"token_ids\":[]}".getBytes(UTF_8), tally);
  }

  @Test
  void shouldAskAllInTurn() throws Exception {
    try (StandInReplica one = new StandInReplica(question -> RIGHT);
        StandInReplica two = new StandInReplica(question -> RIGHT);
        StandInReplica three = new StandInReplica(question -> RIGHT);
        Router router = router(LONG, named("1", one), named("2", two), named("3", three))) {
      for (int i = 0; i < 9; i++) {
        Router.Answer answer = answer(router);
        assertThat(new String(answer.reply().body(), UTF_8)).isEqualTo(RIGHT.body());
        assertThat(answer.receivedNs()).isGreaterThan(answer.sentNs());
      }
      assertThat(List.of(one.asked(), two.asked(), three.asked())).allMatch(asked -> asked >= 3);
      assertThat(tally.refused).hasValue(0);
      assertThat(tallies.findings()).isEmpty();
    }
  }

  @Test
  void shouldAskAnother_whenOneRefuses() throws Exception {
    try (StandInReplica one = new StandInReplica(question -> REFUSAL);
        StandInReplica two = new StandInReplica(question -> RIGHT);
        Router router = router(LONG, named("index-1", one), named("index-2", two))) {
      assertThat(answer(router).by().name()).isEqualTo("index-2");
      assertThat(one.asked()).isEqualTo(1);
      assertThat(two.asked()).isEqualTo(1);
      assertThat(tally.retried).hasValue(1);
      assertThat(tally.refused).as("nothing was done to it").hasValue(1);
      assertThat(tallies.findings())
          .singleElement()
          .asString()
          .contains("index-1, to which nothing was done", "503", "not ready");
    }
  }

  @Test
  void shouldAskAnother_whenNobodyListens() throws Exception {
    URI nobody = URI.create("http://127.0.0.1:" + ChildProcess.freePort());
    RouterReplica dead = new RouterReplica("index-1", nobody);
    dead.disturb();
    try (StandInReplica two = new StandInReplica(question -> RIGHT);
        Router router = router(LONG, dead, named("index-2", two))) {
      assertThat(answer(router).by().name()).isEqualTo("index-2");
      assertThat(tally.refused).as("it was killed").hasValue(0);
      assertThat(tallies.count()).isZero();
    }
  }

  @Test
  void shouldAskAnother_whenOneIsSilent() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    try (StandInReplica one = new StandInReplica(StandInReplica.after(goOn, RIGHT));
        StandInReplica two = new StandInReplica(question -> RIGHT);
        Router router = router(LONG, named("index-1", one), named("index-2", two))) {
      long begunNs = System.nanoTime();
      assertThat(answer(router).by().name()).isEqualTo("index-2");
      assertThat(System.nanoTime() - begunNs).isGreaterThanOrEqualTo(Drills.ms(Router.PATIENCE_MS));
      assertThat(tally.retried).hasValue(1);
      goOn.countDown();
      await().untilAsserted(() -> assertThat(tally.slow.get()).isPositive());
      assertThat(tally.refused).as("slow is no refusal").hasValue(0);
    }
  }

  @Test
  void shouldBlameNobody_forWhatItBreaksOffItself() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    try (StandInReplica one = new StandInReplica(StandInReplica.after(goOn, RIGHT));
        StandInReplica two = new StandInReplica(question -> RIGHT);
        Router router = router(LONG, named("index-1", one), named("index-2", two))) {
      assertThat(answer(router).by().name()).isEqualTo("index-2");
      router.close();
      assertThat(one.asked()).as("and has not answered").isEqualTo(1);
      assertThat(tally.refused).hasValue(0);
      assertThat(tallies.findings()).isEmpty();
      goOn.countDown();
    }
  }

  @Test
  void shouldTakeTheLateAnswer_whenOnlyTheRetryIsRefused() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    try (StandInReplica one = new StandInReplica(StandInReplica.after(goOn, RIGHT));
        StandInReplica two = new StandInReplica(question -> REFUSAL);
        Router router = router(LONG, named("index-1", one), named("index-2", two))) {
      CompletableFuture<Router.Answer> answer = ask(router);
      await().untilAsserted(() -> assertThat(tally.refused).hasValue(1));
      assertThat(answer).isNotDone();
      goOn.countDown();
      assertThat(answer.get(30, TimeUnit.SECONDS).by().name()).isEqualTo("index-1");
    }
  }

  @Test
  void shouldFail_whenTheRetryIsRefusedToo_andAskNobodyElse() throws Exception {
    try (StandInReplica one = new StandInReplica(question -> REFUSAL);
        StandInReplica two = new StandInReplica(question -> REFUSAL);
        StandInReplica three = new StandInReplica(question -> RIGHT);
        Router router = router(LONG, named("1", one), named("2", two), named("3", three))) {
      assertThatThrownBy(() -> answer(router))
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining("503");
      assertThat(List.of(one.asked(), two.asked(), three.asked())).containsExactly(1, 1, 0);
      assertThat(tally.refused).hasValue(2);
      assertThat(tally.retried).hasValue(1);
    }
  }

  @Test
  void shouldFail_whenNobodyAnswersInTime() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    try (StandInReplica one = new StandInReplica(StandInReplica.after(goOn, RIGHT));
        StandInReplica two = new StandInReplica(StandInReplica.after(goOn, RIGHT));
        Router router = router(Duration.ofMillis(600), named("1", one), named("2", two))) {
      assertThatThrownBy(() -> answer(router)).hasMessageContaining("timed out");
      assertThat(tally.refused).hasValue(2);
      goOn.countDown();
    }
  }

  @Test
  void shouldBlameAReplica_onlyForWhatWasAskedAfterItWasReadyAgain() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    try (StandInReplica one = new StandInReplica(StandInReplica.after(goOn, REFUSAL));
        StandInReplica two = new StandInReplica(question -> RIGHT)) {
      RouterReplica hit = named("index-1", one);
      try (Router router = router(LONG, hit, named("index-2", two))) {
        hit.disturb();
        CompletableFuture<Router.Answer> before = ask(router);
        await().until(() -> one.asked() == 1);
        hit.settle();
        goOn.countDown();
        assertThat(before.get(30, TimeUnit.SECONDS).by().name()).isEqualTo("index-2");
      }
      try (Router router = router(LONG, hit, named("index-2", two))) {
        assertThat(answer(router).by().name()).isEqualTo("index-2");
        assertThat(one.asked()).isEqualTo(2);
        assertThat(tally.refused).as("the second one").hasValue(1);
      }
    }
  }
}
