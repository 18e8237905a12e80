// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.query.error.ApiException;
import io.kvindex.streams.Holders;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** When a replica takes traffic, and what it says of its own before it ever did. */
class ReplicaReadinessTest extends OneOfThree {

  @Test
  void shouldStayReady_whenItHasJustGoneOnAndIsTheOnlyOne() {
    group = List.of();
    holders = Holders.NONE;
    looks(8);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(4));
    looks(1);
    assertThat(access.notReadyReason()).isNull();
    assertThat(access.view(TABLE)).as("there is nothing better").isSameAs(own.copy);
  }

  /** A starved one is slow to ask, and what it has may be as old as its disk. */
  @Test
  void shouldRefuse_whenItWasNeverReadyAndOthersAreLate() {
    looks(8);
    others.answersWalks = false;
    own.notReady = "partition 0 is 20000 records behind";
    assertThatThrownBy(() -> Walks.empty(access.view(TABLE)))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("no answer in time");
    own.notReady = null;
    assertThat(answeredBy(access.view(TABLE))).as("its own, by now").isNull();
    own.notReady = "partition 0 is 20000 records behind";
    assertThat(answeredBy(access.view(TABLE))).as("it takes traffic since").isNull();
  }

  /** Whoever asks for that sends it traffic from then on. */
  @Test
  void shouldAnswerItself_whenItWasSaidToBeReadyBefore() {
    looks(8);
    assertThat(access.notReadyReason()).isNull();
    others.answersWalks = false;
    own.notReady = "being stopped";
    assertThat(answeredBy(access.view(TABLE))).as("its own").isNull();
  }

  @Test
  void shouldAskTheCopy_whenItWasNeverReadyAndTheActiveIsSilent() {
    own.notReady = "partition 0 is 20000 records behind";
    looks(8);
    others.silent = Set.of(ACTIVE);
    looks(5);
    others.answerOf(new Copy(1_000));
    assertThat(answeredBy(access.view(TABLE))).isEqualTo(STANDBY);
    others.silent = Set.of(ACTIVE, STANDBY);
    looks(5);
    assertThat(access.view(TABLE)).as("nobody knows better").isSameAs(own.copy);
  }

  @Test
  void shouldRefuse_whenItStoodStillAndWasNeverReady() {
    own.notReady = "partition 0 is 20000 records behind";
    looks(8);
    nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(2_500));
    looks(1);
    others.answersWalks = false;
    assertThatThrownBy(() -> Walks.empty(access.view(TABLE))).isInstanceOf(ApiException.class);
  }

  /** Whoever restarts one after the other goes by that. */
  @Test
  void shouldNotBeReady_beforeEachPartitionHasTwoCopies() {
    copies = 2;
    others.restoring = Set.of(STANDBY);
    looks(1);
    assertThat(access.notReadyReason()).contains("partition 0 has no second copy yet");
    others.restoring = Set.of();
    looks(1);
    assertThat(access.notReadyReason()).isNull();
    others.restoring = Set.of(STANDBY, ACTIVE);
    looks(1);
    assertThat(access.notReadyReason()).as("once it was").isNull();
  }

  @Test
  void shouldBeReady_whenThereIsNeverASecondCopy() {
    copies = 2;
    others.restoring = Set.of(STANDBY);
    looks(1);
    assertThat(access.notReadyReason()).isNotNull();
    looks((int) (SingleCopies.LONGEST_NANOS / LOOK_NS) + 1);
    assertThat(access.notReadyReason()).isNull();
  }

  @Test
  void shouldBeReady_whenNobodyElseIs() {
    copies = 2;
    others.silent = Set.of(ACTIVE, STANDBY);
    looks(1);
    assertThat(access.notReadyReason()).isNull();
  }
}
