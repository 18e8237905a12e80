// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.fixture.CheckpointedIndex;
import io.kvindex.streams.fixture.RoughLog;
import io.kvindex.streams.fixture.RoughLog.Taken;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Journal;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two folds of one log are equal in all rows but their numbering, whatever happens to them. */
class TwoFoldsTest {

  private static final int RECORDS = Integer.getInteger("kvindex.test.records", 5_000);

  /** Checkpoints are rare, and under way nearly always. */
  private static final List<JournalLimits> SPEEDS =
      List.of(
          new JournalLimits(1_000_000, Duration.ofMinutes(1), Duration.ofSeconds(30)),
          new JournalLimits(30, Duration.ofMillis(1), Duration.ofSeconds(30)));

  @TempDir Path dir;
  private final TreeMap<String, Integer> seen = new TreeMap<>();
  private final BitSet sweeps = new BitSet();

  @Test
  void shouldBeEqual_whenTheyGoAtOtherSpeedsAndAreStoppedAndKilledOnTheWay() throws Exception {
    long seed = TestSeed.of(TwoFoldsTest.class);
    Random random = new Random(seed);
    RoughLog source = new RoughLog(seed, 1_500, 6);
    List<Taken> log = Stream.generate(source::next).limit(RECORDS).toList();
    findSweeps(log);
    List<String> straight = fold("straight", log, SPEEDS.get(0), null);
    assertThat(straight).hasSizeGreaterThan(200);
    for (JournalLimits speed : SPEEDS) {
      List<String> disturbed = fold("disturbed" + speed.changes(), log, speed, random);
      assertThat(disturbed).as("seed %d, %s", seed, speed).isEqualTo(straight);
    }
    System.out.println(seen + ", " + straight.size() + " lines");
    assertThat(seen).containsKeys("closed", "killed", "idle", "in a sweep");
  }

  private void findSweeps(List<Taken> log) {
    CheckpointedIndex index = CheckpointedIndex.inMemory(KilledCopy.LIMITS);
    for (int i = 0; i < log.size(); i++) {
      EventRecord event = log.get(i).event();
      if (event != null) {
        index.take(event, log.get(i).ms());
        sweeps.set(i, index.isSweeping());
      }
    }
  }

  /**
   * What its checkpoint has at the end.
   *
   * @param random disturbs it, null = nothing does
   */
  private List<String> fold(
      String name, List<Taken> log, JournalLimits speed, @Nullable Random random) throws Exception {
    Path directory = dir.resolve(name);
    FoldedPartition table = load(directory, speed);
    for (int next = 0; next < log.size(); next++) {
      if (log.get(next).event() != null) {
        fold(table, log, next);
      }
      if (random != null && random.nextInt(sweeps.get(next) ? 8 : 250) == 0) {
        count(sweeps.get(next) ? "in a sweep" : "elsewhere");
        switch (random.nextInt(3)) {
          case 0 -> {
            table.close();
            count("closed");
            table = load(directory, speed);
            assertThat(table.foldedOffset()).isGreaterThanOrEqualTo(next - 5);
          }
          case 1 -> {
            count("killed");
            table.abandon();
            table = load(directory, speed);
          }
          default -> {
            count("idle");
            table.idle();
          }
        }
        next = (int) table.foldedOffset();
      }
    }
    table.close();
    return dump(directory);
  }

  private static List<String> dump(Path directory) {
    CheckpointedIndex index = CheckpointedIndex.open(directory, KilledCopy.LIMITS);
    List<String> lines = index.dump().stream().sorted().toList();
    index.kill();
    return lines;
  }

  private static void fold(FoldedPartition table, List<Taken> log, int offset) {
    long folded = table.foldedOffset();
    if (offset > folded + 1) {
      table.missed(folded + 1, offset - 1);
    }
    Taken record = log.get(offset);
    byte[] event = EventRecordCodec.encode(Objects.requireNonNull(record.event()));
    table.fold(offset, record.ms(), null, event, offset);
  }

  private void count(String what) {
    seen.merge(what, 1, Integer::sum);
  }

  private static FoldedPartition load(Path directory, JournalLimits speed) throws Exception {
    FoldedPartition.Shared shared =
        new FoldedPartition.Shared(
            new Epochs(),
            new Journal.Pieces(),
            (outcome, n) -> {},
            KilledCopy.LIMITS,
            speed,
            new SimpleMeterRegistry());
    Checkpoint checkpoint = Checkpoint.open(directory, CheckpointedIndex.TOPIC, 0);
    return new FoldedPartition(0, shared, checkpoint, -1, (done, of) -> {});
  }
}
