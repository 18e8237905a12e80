// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.streams.Holders;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.view.PartitionView;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Who answers where this replica's own copy is behind. */
class ReplicatedIndexAccessTest extends OneOfThree {

  @Test
  void shouldAnswerItself_whenItsCopyIsKeptUp() {
    own.trust = Trust.EXACT;
    assertThat(access.view(TABLE)).isSameAs(own.copy);
  }

  @Test
  void shouldAskTheActive_whenItsOwnCopyIsBehind() {
    looks(8);
    assertThat(access.view(TABLE)).isInstanceOf(RemoteView.class);
  }

  @Test
  void shouldAnswerItself_whenTheActiveIsSilent() {
    looks(8);
    others.silent = Set.of(ACTIVE);
    looks(4);
    assertThat(access.view(TABLE)).as("one answer may be late").isInstanceOf(RemoteView.class);
    looks(1);
    assertThat(access.view(TABLE)).isSameAs(own.copy);
    others.silent = Set.of();
    looks(2);
    assertThat(access.view(TABLE)).isInstanceOf(RemoteView.class);
  }

  @Test
  void shouldAskCopies_whenTheActiveIsSilentAndWhatIsHereFollowsNobody() {
    here = left();
    looks(8);
    others.silent = Set.of(ACTIVE);
    looks(8);
    assertThat(access.view(TABLE)).as("it may be a minute old").isInstanceOf(RemoteView.class);
    others.silent = Set.of(ACTIVE, STANDBY);
    looks(8);
    assertThat(access.view(TABLE)).as("there is nothing else").isSameAs(own.copy);
  }

  @Test
  void shouldAskTheSilentOneLast_whenNothingIsHere() {
    own.copy = null;
    looks(8);
    others.silent = Set.of(ACTIVE);
    looks(8);
    assertThat(access.others().silentLast(List.of(ACTIVE, STANDBY)))
        .containsExactly(STANDBY, ACTIVE);
    assertThat(access.view(TABLE)).isInstanceOf(RemoteView.class);
  }

  @Test
  void shouldAskOthers_whenItStoodStillItself() {
    holders = new Holders(null, List.of(STANDBY));
    looks(8);
    assertThat(access.view(TABLE)).as("no better elsewhere").isSameAs(own.copy);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(5));
    assertThat(access.view(TABLE)).as("before anything else").isInstanceOf(RemoteView.class);
    looks(2);
    assertThat(access.view(TABLE)).isInstanceOf(RemoteView.class);
    looks(40);
    assertThat(access.view(TABLE)).as("others are no better").isSameAs(own.copy);
  }

  /** As where Kafka is away: whoever was the owner is told of as before, and is asked. */
  @Test
  void shouldAnswerItself_whenMoreWaitForOthersThanMay() throws Exception {
    looks(8);
    others.answersWalks = false;
    int askers = 60;
    AtomicInteger answered = new AtomicInteger();
    List<Thread> all = new ArrayList<>();
    for (int i = 0; i < askers; i++) {
      TableView view = access.view(TABLE);
      Thread asker =
          new Thread(
              () -> {
                Walks.empty(view);
                answered.incrementAndGet();
              });
      all.add(asker);
      asker.start();
    }
    for (Thread asker : all) {
      asker.join();
    }
    assertThat(answered).hasValue(askers);
  }

  @Test
  void shouldRefuse_whenItHasJustGoneOnAndOthersDoNotAnswerInTime() {
    holders = new Holders(null, List.of(STANDBY));
    others.answersWalks = false;
    looks(8);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(4));
    looks(1);
    assertThatThrownBy(() -> Walks.empty(access.view(TABLE)))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("no answer in time");
    assertThat(access.notReadyReason()).contains("stood still");
    assertThat(access.notReadyReason(TABLE)).contains("stood still");
    looks(8);
    assertThat(access.notReadyReason()).isNull();
    assertThat(access.notReadyReason(TABLE)).isNull();
    assertThat(Walks.empty(access.view(TABLE))).as("its own answer, for want of another").isZero();
  }

  @Test
  void shouldRefuse_whenItHasJustGoneOnAndWhatIsHereWasLeftBehindBefore() {
    here = left();
    others.answersWalks = false;
    looks(8);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(4));
    assertThatThrownBy(() -> Walks.empty(access.view(TABLE))).isInstanceOf(ApiException.class);
  }

  @Test
  void shouldTakeTheFresherAnswer_whenNobodyIsUpToDate() {
    looks(8);
    own.lagMs = 2_000;
    others.answerOf(new Copy(9_000));
    assertThat(answeredBy(access.view(TABLE))).as("the new owner is still restoring").isNull();
    others.answerOf(new Copy(1_000));
    assertThat(answeredBy(access.view(TABLE))).isEqualTo(ACTIVE);
  }

  private static PartitionView left() {
    var left = new PartitionTable(0, new Epochs(), new Journal(new Journal.Pieces())).view();
    left.closed();
    return left;
  }
}
