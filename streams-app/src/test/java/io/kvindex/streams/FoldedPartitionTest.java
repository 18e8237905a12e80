// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.Place;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.fixture.Answers;
import io.kvindex.streams.fixture.Engine;
import io.kvindex.streams.fixture.Prompt;
import io.kvindex.streams.fold.Counts;
import io.kvindex.streams.fold.Limits;
import io.kvindex.streams.fold.Outcome;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.runtime.Refusal;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FoldedPartitionTest {

  private static final Place GPU = new Place("GPU", 0, 0, null);

  /** The record that no fold survives has so many events. */
  private static final int BAD = 3;

  @TempDir Path dir;

  private FoldedPartition load(long first) throws Exception {
    Counts counts =
        (outcome, n) -> {
          if (outcome == Outcome.APPLIED && n == BAD) {
            throw new IllegalStateException("a bug, with the table half changed");
          }
        };
    FoldedPartition.Shared shared =
        new FoldedPartition.Shared(
            new Epochs(),
            new Journal.Pieces(),
            counts,
            Limits.DEFAULT,
            JournalLimits.DEFAULT,
            new SimpleMeterRegistry());
    Checkpoint checkpoint = Checkpoint.open(dir.resolve("0"), new Uuid(1, 2), 0);
    return new FoldedPartition(0, shared, checkpoint, first, (done, of) -> {});
  }

  /** Else it would wait for them for ever, and seem to lack nothing beside who has them. */
  @Test
  void shouldLackAndNotAwaitWhatIsBeforeItsBeginning_whenNoRecordHasComeYet() throws Exception {
    FoldedPartition table = load(100);
    assertThat(table.view().since()).isEqualTo(100);
    assertThat(table.view().appliedOffset()).isEqualTo(99);
    table.close();
    FoldedPartition again = load(0);
    assertThat(again.view().since()).as("nothing was written").isZero();
    assertThat(again.view().appliedOffset()).isNegative();
    again.close();
  }

  @Test
  void shouldGoOnWithoutARecord_whenItsFoldFailsEachTime() throws Exception {
    Engine good = new Engine("good");
    Engine bad = new Engine("bad");
    List<EventRecord> log =
        List.of(
            good.batch(new Prompt("ab").stored(GPU)),
            bad.batch(new Prompt("ab").stored(GPU)),
            bad.batch(
                new Prompt("ab").removed(GPU, 1, 2),
                new Prompt("cd").stored(GPU),
                new Prompt("ef").stored(GPU)),
            bad.batch(new Prompt("gh").stored(GPU)));
    FailedFolds failures = new FailedFolds();
    for (int failed = 0; failed < 2; failed++) {
      FoldedPartition table = load(-1);
      table.leaveOut(failures.notBefore(table.foldedOffset()));
      assertThatThrownBy(() -> fold(table, log)).hasMessageContaining("a bug");
      table.abandon();
      Refusal why = new Refusal(Refusal.Cause.FOLD_FAILED, 2, "");
      failures.note(why);
      failures.note(why); // as where loading fails for another reason
    }
    FoldedPartition table = load(-1);
    Set<Long> leftOut = failures.notBefore(table.foldedOffset());
    assertThat(leftOut).containsExactly(2L);
    table.leaveOut(leftOut);
    fold(table, log);
    assertHasAllOthers(table);
    assertThat(table.warning()).contains("offset 2 of partition 0 of kvindex.events", "bad");
    table.close();
    FoldedPartition again = load(-1);
    assertHasAllOthers(again);
    assertThat(failures.notBefore(again.foldedOffset())).isEmpty();
    again.abandon();
  }

  private static void fold(FoldedPartition table, List<EventRecord> log) {
    for (int i = 0; i < log.size(); i++) {
      table.fold(i, 1_000 + i, null, EventRecordCodec.encode(log.get(i)), i);
    }
  }

  private static void assertHasAllOthers(FoldedPartition table) {
    assertThat(table.foldedOffset()).isEqualTo(3);
    assertThat(Answers.text(table.view(), "ab"))
        .isEqualTo("bad/0/GPU,good/0/GPU | bad/0/GPU,good/0/GPU");
    assertThat(Answers.text(table.view(), "cd")).isEmpty();
    assertThat(Answers.text(table.view(), "gh")).isEqualTo("bad/0/GPU | bad/0/GPU");
    assertThat(table.view().degradedPublishers())
        .containsExactly(new Engine("bad").stream().publisher());
    assertThat(table.view().heldRecords()).isZero();
  }

  /** There are others from where the log differs on; and want of memory is no record's fault. */
  @Test
  void shouldBlameNoRecord_whenTheLogIsAnotherOrMemoryIsFull() {
    FailedFolds failures = new FailedFolds();
    failures.note(new Refusal(Refusal.Cause.FOLD_FAILED, 2, ""));
    failures.note(new Refusal(Refusal.Cause.LOG_LOST_END, 1, ""));
    failures.note(new Refusal(Refusal.Cause.FOLD_FAILED, 2, ""));
    assertThat(failures.notBefore(-1)).isEmpty();
    failures.note(new Refusal(Refusal.Cause.FOLD_FAILED, 5, ""));
    failures.note(new Refusal(Refusal.Cause.FOLD_FAILED, Refusal.OF_THE_PROCESS, ""));
    failures.note(new Refusal(Refusal.Cause.FOLD_FAILED, Refusal.OF_THE_PROCESS, ""));
    failures.note(new Refusal(Refusal.Cause.FOLD_FAILED, 2, ""));
    assertThat(failures.notBefore(-2)).containsExactly(2L);
  }

  /** Another process of the copy may want it next. */
  @Test
  void shouldHaveAllOnTheDisk_whenItsTaskHasEnded() throws Exception {
    FoldedPartition table = load(-1);
    table.fold(0, 0, null, null, 1);
    assertThat(table.checkpointState().folded().offset()).isNegative();
    table.released();
    await().until(() -> table.checkpointState().folded().offset() == 0);
    table.close();
  }
}
