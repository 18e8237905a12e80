// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.query.error.ApiException;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Who answers where this replica's own copy is behind, or not there. */
class ReplicatedIndexAccessTest extends OneOfThree {

  @Test
  void shouldAnswerItself_whenItsCopyIsKeptUp() {
    own.trust = Trust.EXACT;
    assertThat(access.view(TABLE)).isSameAs(own.copy);
  }

  @Test
  void shouldAskOthers_whenItsOwnCopyIsBehind() {
    looks(8);
    assertThat(access.view(TABLE)).isInstanceOf(RemoteView.class);
    others.loading = Set.of(FIRST, SECOND);
    looks(1);
    assertThat(access.view(TABLE)).as("nobody has more").isSameAs(own.copy);
  }

  /** All of them are as old then. */
  @Test
  void shouldAnswerItself_whenKafkaIsAway() {
    others.behind = Set.of(FIRST, SECOND);
    looks(1);
    assertThat(access.view(TABLE)).isSameAs(own.copy);
  }

  /** What it has may be as old as its disk, and they are only seconds behind. */
  @Test
  void shouldAskOthersThatAreBehind_whenItWasNeverReadyItself() {
    wasClose = false;
    others.behind = Set.of(FIRST, SECOND);
    looks(1);
    assertThat(access.view(TABLE)).isInstanceOf(RemoteView.class);
    group = List.of();
    looks(1);
    assertThat(access.view(TABLE)).as("nobody else is there").isNull();
  }

  @Test
  void shouldAnswerItself_whenTheOthersAreSilent() {
    looks(8);
    others.silent = Set.of(FIRST, SECOND);
    looks(5);
    assertThat(access.view(TABLE)).as("one answer may be late").isInstanceOf(RemoteView.class);
    looks(1);
    assertThat(access.view(TABLE)).isSameAs(own.copy);
    others.silent = Set.of(FIRST);
    looks(1);
    assertThat(access.view(TABLE)).isInstanceOf(RemoteView.class);
  }

  @Test
  void shouldSayThatItHasNothing_whenNobodyIsThere() {
    own.copy = null;
    group = List.of();
    looks(1);
    assertThat(access.view(TABLE)).isNull();
  }

  /** An empty answer would send everything to the wrong engines. */
  @Test
  void shouldRefuse_whenNothingIsHereAndNobodyAnswers() {
    own.copy = null;
    others.answersWalks = false;
    looks(8);
    assertThatThrownBy(() -> Walks.empty(access.view(TABLE)))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("no answer in time");
  }

  @Test
  void shouldAskWhoLacksOlderBlocks_onlyWhereNobodyElseAnswers() {
    own.copy = null;
    own.trust = Trust.EXACT;
    others.answerOf(new Copy(0));
    others.since = Map.of(FIRST, 900L);
    looks(1);
    assertThat(answeredBy(access.view(TABLE))).isEqualTo(SECOND);
    others.closed = Set.of(SECOND);
    looks(1);
    TableView cut = Objects.requireNonNull(access.view(TABLE));
    assertThat(answeredBy(cut)).isEqualTo(FIRST);
    assertThat(cut.trust()).isEqualTo(Trust.STALE);
    own.copy = new Copy(-1);
    own.trust = Trust.STALE;
    assertThat(access.view(TABLE)).as("it lacks nothing").isSameAs(own.copy);
  }

  /** It keeps up, and lacks what was announced before its beginning. */
  @Test
  void shouldNotBeExact_whenItsOwnTableBeganLaterThanAnothers() {
    own.trust = Trust.EXACT;
    here = since(100);
    looks(1);
    others.answerOf(new Copy(0));
    TableView whole = Objects.requireNonNull(access.view(TABLE));
    assertThat(answeredBy(whole)).isEqualTo(FIRST);
    assertThat(whole.trust()).isEqualTo(Trust.EXACT);
    others.since = Map.of(SECOND, 100L);
    others.closed = Set.of(FIRST);
    looks(1);
    assertThat(ownAnswer()).as("who has more is dead").isEqualTo(Trust.STALE);
    others.closed = Set.of();
    others.loading = Set.of(FIRST);
    looks(1);
    assertThat(ownAnswer()).as("who has more loads it").isEqualTo(Trust.STALE);
    others.loading = Set.of();
    others.since = Map.of(FIRST, 100L, SECOND, 100L);
    looks(1);
    assertThat(ownAnswer()).as("nobody has more any more").isEqualTo(Trust.EXACT);
    others.since = Map.of(FIRST, 90L);
    looks(1);
    assertThat(answeredBy(access.view(TABLE))).isEqualTo(SECOND);
    group = List.of();
    looks(1);
    assertThat(ownAnswer()).as("they are forgotten").isEqualTo(Trust.EXACT);
  }

  private Trust ownAnswer() {
    TableView view = access.view(TABLE);
    assertThat(answeredBy(view)).isNull();
    return Objects.requireNonNull(view).trust();
  }

  /** Two that stand still are asked first, and have not been silent for long enough to be dead. */
  @Test
  void shouldBeAnsweredByTheThird_whenTwoStandStill() {
    String third = "third:1";
    group = List.of(FIRST, SECOND, third);
    own.copy = null;
    looks(1);
    others.answerOf(new Copy(0));
    others.silent = Set.of(FIRST, SECOND);
    others.beforeWalk = () -> nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(60));
    assertThat(answeredBy(access.view(TABLE))).isEqualTo(third);
    assertThat(access.others().holders(0).inOrder()).as("the next one").startsWith(third);
  }

  /** As where Kafka has just gone away: the others are told of as before, and are asked. */
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
  void shouldTakeTheFresherAnswer_whenNobodyIsUpToDate() {
    looks(8);
    own.lagMs = 2_000;
    others.answerOf(new Copy(9_000));
    assertThat(answeredBy(access.view(TABLE))).as("its own").isNull();
    others.answerOf(new Copy(1_000));
    assertThat(answeredBy(access.view(TABLE))).isEqualTo(FIRST);
  }

  /** A starved one is slow to ask, and what it has may be as old as its disk. */
  @Test
  void shouldRefuse_whenItWasNeverReadyAndOthersAreLate() {
    looks(8);
    others.answersWalks = false;
    wasClose = false;
    assertThatThrownBy(() -> Walks.empty(access.view(TABLE)))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("no answer in time");
    wasClose = true;
    assertThat(answeredBy(access.view(TABLE))).as("its own, by now").isNull();
  }

  /** As one that stood still: whoever asked it asks another one, which knows more. */
  @Test
  void shouldRefuse_whenItsOwnTableIsFarBehindAndOthersThatKeepUpAreLate() {
    looks(8);
    others.answersWalks = false;
    own.lagMs = RemoteView.OLDEST_TOLD_MS;
    assertThat(answeredBy(access.view(TABLE))).as("its own").isNull();
    own.lagMs = RemoteView.OLDEST_TOLD_MS + 1;
    assertThatThrownBy(() -> Walks.empty(access.view(TABLE)))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("no answer in time");
    others.behind = Set.of(FIRST, SECOND);
    looks(1);
    assertThat(access.view(TABLE)).as("all are as old").isSameAs(own.copy);
    others.behind = Set.of();
    looks(1);
    others.answersWalks = true;
    others.answerOf(new Copy(9_000));
    assertThat(answeredBy(access.view(TABLE))).as("still the freshest of all").isNull();
  }

  /** What it is not to have itself it takes no traffic for, unless somebody answers. */
  @Test
  void shouldBeReady_onlyWhereOthersKeepUpWhatIsNotHere() {
    isHere = false;
    assertThat(access.notReadyReason()).as("nobody has said anything yet").isNotNull();
    looks(1);
    assertThat(access.notReadyReason()).isNull();
    assertThat(access.isKeptByOwnCopy(0)).as("theirs are other copies").isFalse();
    others.behind = Set.of(FIRST);
    others.closed = Set.of(SECOND);
    looks(1);
    assertThat(access.notReadyReason()).isNotNull();
    others.behind = Set.of();
    looks(1);
    assertThat(access.notReadyReason()).isNull();
  }
}
