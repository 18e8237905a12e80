// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.produce.SendSession;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.Incarnation;
import io.kvindex.model.progress.Connection;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When the engine at the other end of a connection counts as the one that was followed before. */
@Timeout(60)
class ConnectionTest extends FollowerFixture {

  @Test
  void shouldBeProvenByItsReplay_whenTheConnectionComesBackAndTheEngineIsQuiet() throws Exception {
    engine.publish(0, 2);
    Following following = follow();
    awaitProven(following, 2);

    engine.disconnect();
    await().atMost(SOON).until(() -> !connection(following).up());
    assertThat(connection(following).proven()).isFalse();
    engine.reconnect();
    awaitProven(following, 2);
    assertThat(counter(following, "new_lives")).isZero();
  }

  @Test
  void shouldBeProvenByItsNextBatchOnly_whenThereIsNoReplay() throws Exception {
    Following following = follow((String) null);
    long behind = awaitLive(following, 2_000);
    awaitProven(following, behind);

    engine.disconnect();
    await().atMost(SOON).until(() -> !connection(following).up());
    engine.reconnect();
    await().atMost(SOON).until(() -> connection(following).up());
    assertThat(connection(following).proven()).isFalse();
    engine.publish(behind + 1, behind + 1);
    awaitProven(following, behind + 1);
    assertThat(counter(following, "new_lives")).isZero();
  }

  @Test
  void shouldBeProvenAsANewLife_whenAnotherEngineAnswers() throws Exception {
    engine.publish(0, 9);
    Following following = follow();
    awaitProven(following, 9);
    engine.disconnect();
    await().atMost(SOON).until(() -> !connection(following).up());
    engine.restart();
    engine.publishUnheard(0, 1);
    engine.reconnect();
    await().atMost(SOON).until(() -> counter(following, "new_lives") == 1);
    awaitProven(following, 1);
  }

  @Test
  void shouldNotBeProven_whenABridgeTakesOverAndNothingIsHeardYet() throws Exception {
    Following following =
        follow(
            new Life(
                Site.engine("e", engine.endpoint(), null),
                new Incarnation(3, 7, 0),
                new SendSession.Acked(5_000, 0, 0, 0),
                false,
                false));
    await().atMost(SOON).until(() -> connection(following).up());
    assertThat(connection(following).proven()).isFalse();
    engine.publish(5_001, 5_001);
    awaitProven(following, 5_001);
  }

  @Test
  void shouldNotBeProven_whileKafkaDoesNotHaveWhatProvedIt() throws Exception {
    engine.publish(0, 0);
    Following following = follow();
    awaitProven(following, 0);
    engine.disconnect();
    await().atMost(SOON).until(() -> !connection(following).up());
    engine.publishUnheard(1, 1);
    engine.reconnect();
    await().atMost(SOON).until(() -> sentOf("e").size() == 2);
    assertThat(connection(following).proven()).isFalse();
    awaitProven(following, 1);
  }

  @Test
  void shouldHaveNewsOnce_whenTheConnectionIsLost() throws Exception {
    engine.publish(0, 0);
    Following following = follow();
    awaitProven(following, 0);
    following.report(progress -> {});
    assertThat(following.hasConnectionNews()).isFalse();
    engine.disconnect();
    await().atMost(SOON).until(following::hasConnectionNews);
    following.report(progress -> {});
    assertThat(following.hasConnectionNews()).isFalse();
  }

  private long awaitLive(Following following, long from) {
    long[] next = {from};
    await()
        .atMost(SOON)
        .until(
            () -> {
              if (connection(following).up() && next[0] < from + 3) {
                engine.publish(next[0], next[0]);
                next[0]++;
              }
              return isSent("e", from + 2);
            });
    return from + 2;
  }

  private void awaitProven(Following following, long last) {
    await()
        .atMost(SOON)
        .until(
            () ->
                isSent("e", last) && connection(following).up() && connection(following).proven());
  }

  private static Connection connection(Following following) {
    return Objects.requireNonNull(following.progress().connection());
  }

  private static long counter(Following following, String name) {
    @Nullable Long count = following.progress().counters().get(name);
    return count == null ? 0 : count;
  }
}
