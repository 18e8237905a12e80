// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.site.Serving;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.query.lookup.Walk;
import io.kvindex.streams.Holders;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.RunVisitor;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Who answers where this replica's own copy is behind. */
class ReplicatedIndexAccessTest {
  private static final TableId TABLE = new TableId("t", "m", 16, HashProfile.XXH3_DEFAULT);
  private static final String ACTIVE = "active:1";
  private static final String STANDBY = "standby:1";
  private static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(250);

  private int copies = 1;
  private @Nullable PartitionView here;
  private final AtomicLong nowNs = new AtomicLong();
  private final Own own = new Own();
  private final StandInReplicas others = new StandInReplicas();
  private Holders holders = new Holders(ACTIVE, List.of(STANDBY));
  private List<String> group = List.of(ACTIVE, STANDBY);
  private final ReplicatedIndexAccess access =
      new ReplicatedIndexAccess(
          Serving.DEFAULT_APPLICATION,
          own,
          new Placed(),
          others,
          new SimpleMeterRegistry(),
          nowNs::get);

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

  private static PartitionView left() {
    var left =
        new PartitionTable(0, Stores.inMemoryKeyValueStore("rows").get(), new Epochs()).view();
    left.closed();
    return left;
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

  @Test
  void shouldNotTakeOthersForSilent_whenItStoodStillItself() {
    looks(8);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(60));
    assertThat(access.others().isSilent(ACTIVE)).isFalse();
    others.silent = Set.of(ACTIVE);
    looks(4);
    assertThat(access.others().isSilent(ACTIVE)).as("asked for less than a second").isFalse();
    looks(2);
    assertThat(access.others().isSilent(ACTIVE)).isTrue();
  }

  /** As a starved one looks: what it has not read yet nobody has failed to say. */
  @Test
  void shouldNotTakeOthersForSilent_whenItsOwnLooksAreLate() {
    looks(8);
    others.silent = Set.of(ACTIVE);
    for (int i = 0; i < 5; i++) {
      nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(1_300));
      access.others().look();
      assertThat(access.others().isSilent(ACTIVE)).isFalse();
    }
  }

  @Test
  void shouldTakeOneForSilent_whenItHasNeverSaidAnything() {
    others.silent = Set.of(ACTIVE);
    looks(5);
    assertThat(access.others().isSilent(ACTIVE)).isFalse();
    looks(1);
    assertThat(access.others().isSilent(ACTIVE)).isTrue();
    assertThat(access.others().isSilent(STANDBY)).isFalse();
  }

  @Test
  void shouldNotTakeOneForSilent_whenItRefuses() {
    looks(8);
    others.refusing = Set.of(ACTIVE);
    looks(8);
    assertThat(access.others().isSilent(ACTIVE)).isFalse();
    assertThat(access.others().problemOf(ACTIVE)).contains("503");
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
  void shouldStayReady_whenItHasJustGoneOnAndIsTheOnlyOne() {
    group = List.of();
    holders = Holders.NONE;
    looks(8);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(4));
    looks(1);
    assertThat(access.notReadyReason()).isNull();
    assertThat(access.view(TABLE)).as("there is nothing better").isSameAs(own.copy);
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

  /** It has taken the place of one that was ready: a table that is changed over to. */
  @Test
  void shouldBeReadyAtOnce_whenItGoesOnForOneThatWas() {
    copies = 2;
    others.restoring = Set.of(STANDBY);
    looks(1);
    assertThat(access.notReadyReason()).contains("no second copy");
    copies = 1;
    ReplicatedIndexAccess former =
        new ReplicatedIndexAccess(
            "former", own, new Placed(), others, new SimpleMeterRegistry(), nowNs::get);
    own.notReady = "not yet";
    access.goOnFor(former);
    copies = 2;
    own.notReady = null;
    assertThat(access.notReadyReason()).as("nor was that one").contains("no second copy");
    copies = 1;
    assertThat(former.notReadyReason()).isNull();
    access.goOnFor(former);
    copies = 2;
    assertThat(access.notReadyReason()).isNull();
  }

  private static @Nullable String answeredBy(@Nullable TableView view) {
    Walks.empty(view);
    return Objects.requireNonNull(view).answeredBy();
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

  /** What is done with each look must not end the looks. */
  @Test
  void shouldLookOn_whenWhatFollowsFails() throws Exception {
    CountDownLatch looks = new CountDownLatch(3);
    try (StatusWatch watch =
        new StatusWatch(new Placed(), others, new SimpleMeterRegistry(), System::nanoTime)) {
      watch.start(
          () -> {
            looks.countDown();
            throw new IllegalStateException("closed meanwhile");
          });
      assertThat(looks.await(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  private void looks(int times) {
    for (int i = 0; i < times; i++) {
      nowNs.addAndGet(LOOK_NS);
      access.others().look();
    }
  }

  private final class Own extends Relayed.NoTables {
    private Trust trust = Trust.STALE;
    private long lagMs;
    private @Nullable TableView copy = new Copy(-1);
    private @Nullable String notReady;

    @Override
    public @Nullable String notReadyReason() {
      return notReady;
    }

    @Override
    public @Nullable TableView view(TableId table) {
      return copy;
    }
  }

  private final class Copy implements TableView {
    private final long lagMs;

    /**
     * @param lagMs -1 = what is set for this replica's own
     */
    private Copy(long lagMs) {
      this.lagMs = lagMs;
    }

    @Override
    public int walk(Walk walk, RunVisitor visitor) {
      visitor.begin(OwnerView.of(1, new Owner[0]));
      visitor.end(0);
      return 0;
    }

    @Override
    public long blockCount() {
      return 0;
    }

    @Override
    public Trust trust() {
      return own.trust;
    }

    @Override
    public long lagMs() {
      return lagMs < 0 ? own.lagMs : lagMs;
    }

    @Override
    public Set<PublisherId> degradedPublishers() {
      return Set.of();
    }
  }

  private final class Placed implements IndexPartitions {

    @Override
    public int partitions() {
      return 1;
    }

    @Override
    public int copies() {
      return copies;
    }

    @Override
    public @Nullable PartitionView view(int partition) {
      return here;
    }

    @Override
    public boolean keepsUp(int partition) {
      return false;
    }

    @Override
    public Holders holders(int partition) {
      return holders;
    }

    @Override
    public List<String> otherReplicas() {
      return group;
    }

    @Override
    public @Nullable String notReadyReason() {
      return null;
    }
  }
}
