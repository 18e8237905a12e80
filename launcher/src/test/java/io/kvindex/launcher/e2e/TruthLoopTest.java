// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.kvindex.launcher.e2e.StandInReplica.Reply;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A loop that overlooks something makes each test that uses it worthless. */
@Timeout(120)
class TruthLoopTest {

  private static final Reply RIGHT =
      Reply.ok(
          "{\"default\":{\"engine-0\":{\"longest_matched\":0,\"GPU\":0,\"DP\":{\"0\":0},\"CPU\":0,\"DISK\":0}}}");
  private static final Reply WRONG =
      Reply.ok(
          "{\"default\":{\"engine-0\":{\"longest_matched\":16,\"GPU\":16,\"DP\":{\"0\":16},\"CPU\":0,\"DISK\":0}}}");
  private static final Reply NOT_READY = Reply.refusal("not ready");
  private static final Reply LATE = Reply.refusal("nobody answers; try again (no answer in time)");
  private static final int SOME = 20;

  /** It holds nothing. */
  private final LoadedEngines engines = new LoadedEngines(1, 1);

  private final CountDownLatch goOn = new CountDownLatch(1);

  @AfterEach
  void close() throws InterruptedException {
    engines.close();
  }

  /** Two replicas and who asks them; the first one may be said to be disturbed from the start. */
  private final class Site implements AutoCloseable {
    private final CountDownLatch begin = new CountDownLatch(1);
    private final StandInReplica one;
    private final StandInReplica other;
    private final Api first;
    private final TruthLoop loop;

    Site(boolean disturbed, Supplier<Reply> ofOne, Supplier<Reply> ofOther) throws IOException {
      one = new StandInReplica(question -> reply(ofOne));
      other = new StandInReplica(question -> reply(ofOther));
      first = new Api(one.uri());
      loop = new TruthLoop(List.of(first, new Api(other.uri())), engines.engines(), 1);
      if (disturbed) {
        loop.disturb(first);
      }
      begin.countDown();
    }

    private Reply reply(Supplier<Reply> reply) {
      StandInReplica.await(begin);
      return reply.get();
    }

    private Site letAsk() {
      int before = one.asked() + other.asked();
      await().until(() -> one.asked() + other.asked() >= before + SOME);
      return this;
    }

    /** Nothing of it is left, whatever it found. */
    @Override
    public void close() throws InterruptedException {
      goOn.countDown();
      try {
        loop.close();
      } catch (AssertionError e) {
        // The test has looked at it, or has failed before.
      }
      one.close();
      other.close();
    }
  }

  /** Stands still first. */
  private Reply later(Reply reply) {
    StandInReplica.await(goOn);
    return reply;
  }

  /** Some refusals for want of time, then right answers. */
  private static Supplier<Reply> late(int refusals) {
    AtomicInteger left = new AtomicInteger(refusals);
    return () -> left.getAndDecrement() > 0 ? LATE : RIGHT;
  }

  private static void assertFinds(Site site, String finding) {
    assertThatThrownBy(site.loop::close)
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(finding);
  }

  @Test
  void shouldFindNothing_whenAllIsRight() throws Exception {
    try (Site site = new Site(false, () -> RIGHT, () -> RIGHT)) {
      site.letAsk().loop.close();
      assertThat(List.of(site.one.asked(), site.other.asked())).allMatch(asked -> asked > SOME / 4);
    }
  }

  @Test
  void shouldFind_aWrongAnswer() throws Exception {
    try (Site site = new Site(false, () -> RIGHT, () -> WRONG)) {
      assertFinds(site.letAsk(), "was answered wrong");
    }
  }

  /** Its excuse is for what it does not say. */
  @Test
  void shouldFind_aWrongAnswerOfAReplicaThatWasKilled() throws Exception {
    try (Site site = new Site(true, () -> WRONG, () -> RIGHT)) {
      assertFinds(site.letAsk(), "was answered wrong");
    }
  }

  @Test
  void shouldFind_aWrongAnswerThatComesSecond() throws Exception {
    try (Site site = new Site(true, () -> later(WRONG), () -> RIGHT)) {
      site.letAsk();
      goOn.countDown();
      assertFinds(site, "was answered wrong");
    }
  }

  @Test
  void shouldFind_anAnswerThatIsNone() throws Exception {
    try (Site site = new Site(true, () -> Reply.ok("<html>"), () -> RIGHT)) {
      assertFinds(site.letAsk(), "was answered wrong");
    }
  }

  @Test
  void shouldFind_aRefusalOfAReplicaThatRuns_thoughNoQueryFailed() throws Exception {
    try (Site site = new Site(false, () -> NOT_READY, () -> RIGHT)) {
      assertThatThrownBy(site.letAsk().loop::close)
          .hasMessageContaining("was refused by a replica that runs")
          .message()
          .doesNotContain("retry and all");
    }
  }

  @Test
  void shouldFind_thatAReplicaThatRunsIsGone() throws Exception {
    try (Site site = new Site(false, () -> RIGHT, () -> RIGHT)) {
      site.letAsk().one.close();
      await().until(() -> site.other.asked() > 2 * SOME);
      assertFinds(site, "was refused by a replica that runs");
    }
  }

  @Test
  void shouldExcuseAReplicaThatWasKilled_whenAnotherOneAnswers() throws Exception {
    try (Site site = new Site(true, () -> NOT_READY, () -> RIGHT)) {
      site.letAsk().loop.close();
      assertThat(site.one.asked()).isPositive();
    }
  }

  @Test
  void shouldExcuseItNoMore_whenItIsReadyAgain() throws Exception {
    try (Site site = new Site(true, () -> NOT_READY, () -> RIGHT)) {
      site.letAsk().loop.settle(site.first);
      assertFinds(site.letAsk(), "was refused by a replica that runs");
    }
  }

  @Test
  void shouldFind_aQueryWhoseRetryIsRefusedToo() throws Exception {
    try (Site site = new Site(true, () -> NOT_READY, () -> NOT_READY)) {
      assertFinds(site.letAsk(), "failed, retry and all");
    }
  }

  @Test
  void shouldAskAnother_whenOneStandsStill_andLeaveThatOneAlone() throws Exception {
    try (Site site = new Site(true, () -> later(RIGHT), () -> RIGHT)) {
      site.letAsk();
      assertThat(site.one.asked()).isBetween(1, AskedReplica.MOST_UNDER_WAY);
      goOn.countDown();
      site.loop.close();
    }
  }

  @Test
  void shouldBearOneRefusalForWantOfTime_whenTheRetryIsAnswered() throws Exception {
    try (Site site = new Site(false, late(1), () -> RIGHT)) {
      site.letAsk().loop.close();
    }
  }

  @Test
  void shouldFind_severalRefusalsForWantOfTime() throws Exception {
    try (Site site = new Site(false, late(3), () -> RIGHT)) {
      assertFinds(site.letAsk(), "late of");
    }
  }

  @Test
  void shouldFind_aRefusalForWantOfTime_whenTheRetryIsRefusedToo() throws Exception {
    try (Site site = new Site(false, late(1), late(1))) {
      assertFinds(site.letAsk(), "failed, retry and all");
    }
  }

  @Test
  void shouldNeedTwoReplicas() {
    Api only = new Api(URI.create("http://127.0.0.1:1"));
    assertThatThrownBy(() -> new TruthLoop(List.of(only), engines.engines(), 1))
        .hasMessageContaining("another replica");
  }
}
