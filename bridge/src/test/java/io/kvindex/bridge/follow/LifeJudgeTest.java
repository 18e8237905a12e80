// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.RawBatch;
import io.kvindex.bridge.follow.LifeJudge.Verdict;
import io.kvindex.bridge.produce.SendSession;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class LifeJudgeTest {

  private final LifeJudge judge = new LifeJudge(null);

  @Test
  void shouldKnowABatchAgain_whateverItsTime() {
    take(judge, batch(7, 1), 100);
    take(judge, batch(8, 1), 50); // a clock that was set back
    assertThat(judge.ofLive(batch(7, 1), 100)).isEqualTo(Verdict.SAME);
    assertThat(judge.ofReplayed(batch(7, 1), 100)).isEqualTo(Verdict.SAME);
  }

  @Test
  void shouldTellALateBatchFromANewLife_byItsTime() {
    take(judge, batch(7, 1), 100);
    assertThat(judge.ofLive(batch(6, 1), 99)).isEqualTo(Verdict.LATE);
    assertThat(judge.ofLive(batch(6, 1), 100)).isEqualTo(Verdict.LATE);
    assertThat(judge.ofLive(batch(6, 1), 101)).isEqualTo(Verdict.NEW_LIFE);
    assertThat(judge.ofLive(batch(7, 2), 99)).isEqualTo(Verdict.OTHER);
  }

  @Test
  void shouldDecideNothing_whenABatchHasNoTime() {
    take(judge, batch(7, 1), 100);
    assertThat(judge.ofLive(batch(6, 1), 0)).isEqualTo(Verdict.UNKNOWN);
    assertThat(judge.ofReplayed(batch(7, 2), 0)).isEqualTo(Verdict.UNKNOWN);
    assertThat(judge.ofReplayed(batch(6, 2), 0)).isEqualTo(Verdict.UNKNOWN);
    LifeJudge timeless = new LifeJudge(null);
    take(timeless, batch(7, 1), 0);
    assertThat(timeless.ofLive(batch(6, 1), 200)).isEqualTo(Verdict.UNKNOWN);
    assertThat(timeless.ofLive(batch(7, 1), 0)).isEqualTo(Verdict.SAME);
    assertThat(timeless.ofReplayed(batch(7, 2), 0)).as("another").isEqualTo(Verdict.NEW_LIFE);
  }

  @Test
  void shouldNotGoByTheClock_whenItStandsStillOrWasSetBack() {
    take(judge, batch(7, 1), 100);
    take(judge, batch(8, 1), 100);
    assertThat(judge.ofReplayed(batch(8, 2), 100)).as("stands still").isEqualTo(Verdict.NEW_LIFE);
    take(judge, batch(9, 1), 50);
    assertThat(judge.ofLive(batch(6, 1), 99)).isEqualTo(Verdict.UNKNOWN);
    assertThat(judge.ofReplayed(batch(6, 1), 99)).isEqualTo(Verdict.UNKNOWN);
    assertThat(judge.isOlder(40)).isFalse();
    judge.begin();
    take(judge, batch(0, 1), 200);
    assertThat(judge.isOlder(199)).as("another engine's clock").isTrue();
  }

  @Test
  void shouldTakeTheReplaysWord_whenItHasAnotherBatchOfThatNumber() {
    take(judge, batch(7, 1), 100);
    take(judge, batch(8, 1), 110);
    assertThat(judge.ofReplayed(batch(7, 2), 90)).isEqualTo(Verdict.NEW_LIFE);
    assertThat(judge.ofReplayed(batch(7, 2), 100)).as("same time").isEqualTo(Verdict.SAME);
    assertThat(judge.ofReplayed(batch(6, 1), 90)).as("not remembered").isEqualTo(Verdict.UNKNOWN);
    assertThat(judge.ofReplayed(batch(6, 1), 111)).isEqualTo(Verdict.NEW_LIFE);
  }

  @Test
  void shouldKnowTheLastBatchByItsTime_whenItWasTakenByAnotherBridge() {
    LifeJudge other = new LifeJudge(new SendSession.Acked(7, 100, 0, 0));
    assertThat(other.ofReplayed(batch(7, 1), 100)).isEqualTo(Verdict.SAME);
    assertThat(other.ofReplayed(batch(7, 1), 99)).isEqualTo(Verdict.NEW_LIFE);
  }

  @Test
  void shouldForgetWhatIsFarBack_whenManyWereTaken() {
    for (int i = 0; i < 3_000; i++) {
      take(judge, batch(i, 1), 1_000 + i);
    }
    assertThat(judge.ofLive(batch(2_999, 1), 3_999)).isEqualTo(Verdict.SAME);
    assertThat(judge.ofLive(batch(10, 1), 1_010)).isEqualTo(Verdict.LATE);
  }

  @Test
  void shouldDoubtWhatIsOlderThanTheFormerLife_untilTheNewOneHasSaidSomething() {
    take(judge, batch(7, 1), 100);
    assertThat(judge.isOlder(99)).isTrue();
    assertThat(judge.isOlder(100)).isFalse();
    judge.begin();
    assertThat(judge.isOlder(100)).isTrue();
    assertThat(judge.isOlder(101)).isFalse();
    take(judge, batch(0, 1), 60); // another machine, another clock
    assertThat(judge.isOlder(70)).isFalse();
    assertThat(judge.ofLive(batch(7, 1), 100)).as("forgotten").isEqualTo(Verdict.NEW_LIFE);
  }

  private static RawBatch batch(long sequence, long content) {
    byte[] payload = ByteBuffer.allocate(16).putLong(sequence).putLong(content).array();
    return new RawBatch("", sequence, payload, 0);
  }

  private static void take(LifeJudge judge, RawBatch batch, long micros) {
    judge.taken(batch, micros);
  }
}
