// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntPredicate;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.MockProcessorContext.CapturedPunctuator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A commit stops the table for a while: it is asked for only where somebody waits. */
class EarlyCommitsTest {

  private static final int PARTITION = 3;

  private final Task task = new Task(PARTITION);

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldCommit_whenStandbysWaitForThePartition(boolean wait) {
    EarlyCommits commits = task.commits(partition -> partition == PARTITION && wait);
    commits.applied();
    task.punctuate();
    assertThat(task.context.committed()).isEqualTo(wait);
  }

  @Test
  void shouldAskEachTime_whenStandbysComeAndGo() {
    AtomicInteger waiting = new AtomicInteger();
    EarlyCommits commits = task.commits(partition -> waiting.get() > 0);
    commits.applied();
    task.punctuate();
    assertThat(task.context.committed()).isFalse();
    waiting.set(1);
    commits.applied();
    task.punctuate();
    assertThat(task.context.committed()).isTrue();
  }

  @Test
  void shouldNotCommitNorPunctuate_whenNothingWasApplied() {
    EarlyCommits commits = task.commits(partition -> true);
    assertThat(task.running()).isEmpty();
    commits.applied();
    commits.applied();
    assertThat(task.running()).hasSize(1);
    task.punctuate();
    assertThat(task.running()).isEmpty();
  }

  /** Kafka Streams commits the tasks of a thread together. */
  @Test
  void shouldLeaveItAtOneCommit_whenAnotherTaskOfTheThreadHasAsked() {
    Task other = new Task(PARTITION + 1);
    EarlyCommits first = task.commits(partition -> true);
    EarlyCommits second = other.commits(partition -> true);
    first.applied();
    second.applied();
    task.punctuate();
    other.punctuate();
    assertThat(task.context.committed()).isTrue();
    assertThat(other.context.committed()).as("what was applied before").isFalse();

    second.applied();
    other.punctuate();
    assertThat(other.context.committed()).as("what was applied since").isTrue();
  }

  /** Else a full machine would do nothing but commit, and fall behind what is published. */
  @Test
  void shouldWaitFourTimesAsLongAsTheLastCommitTook() {
    EarlyCommits commits = task.commits(partition -> true);
    task.time.begins();
    task.clockNs.addAndGet(7_000);
    task.time.isNone();
    task.time.begins();
    task.clockNs.addAndGet(300);
    task.time.begins();
    task.clockNs.addAndGet(200);
    task.time.ends();
    commits.applied();
    task.clockNs.addAndGet(1_999);
    task.punctuate();
    assertThat(task.context.committed()).isFalse();
    assertThat(task.running()).as("looks again").hasSize(1);
    task.clockNs.addAndGet(1);
    task.punctuate();
    assertThat(task.context.committed()).isTrue();
    assertThat(task.running()).isEmpty();
  }

  private static final class Task {

    private final AtomicLong clockNs = new AtomicLong();
    private final CommitTime time = new CommitTime(clockNs::get);
    private final MockProcessorContext<Void, Void> context;

    Task(int partition) {
      context = new MockProcessorContext<>(new Properties(), new TaskId(0, partition), null);
    }

    EarlyCommits commits(IntPredicate standbysWait) {
      return new EarlyCommits(context, standbysWait, time);
    }

    List<CapturedPunctuator> running() {
      return context.scheduledPunctuators().stream().filter(one -> !one.cancelled()).toList();
    }

    void punctuate() {
      running().forEach(scheduled -> scheduled.getPunctuator().punctuate(0));
    }
  }
}
