// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.sandbox.TestSeed;
import io.kvindex.streams.fixture.CheckpointedIndex;
import io.kvindex.streams.fixture.RoughLog;
import io.kvindex.streams.fixture.RoughLog.Taken;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A table that is loaded from a checkpoint at a random record and told the rest is the same as one
 * that never stopped, and goes on as that one does.
 */
class CheckpointedFoldTest {

  private static final int RECORDS = Integer.getInteger("kvindex.test.records", 3_000);
  private static final int PROMPTS = 24;
  private static final int WRITTEN_EVERY = 40;
  private static final int LOADED_EVERY = 60;

  /** All of them are met. */
  private static final Limits LIMITS = new Limits(4, Duration.ofSeconds(8), 25, 6, 100, 12);

  @TempDir private Path directory;

  @Test
  void shouldEqualATableThatNeverStopped_whenLoadedAtAnyRecordAndToldTheRest() {
    long seed = TestSeed.of(CheckpointedFoldTest.class);
    Random random = new Random(seed);
    RoughLog source = new RoughLog(seed, PROMPTS, 1);
    List<Taken> log = Stream.generate(source::next).limit(RECORDS).toList();
    int loaded = 0;
    CheckpointedIndex reference = CheckpointedIndex.inMemory(LIMITS);
    CheckpointedIndex table = CheckpointedIndex.open(directory, LIMITS);
    int written = -1; // record before which the last checkpoint was written
    for (int i = 0; i < log.size(); i++) {
      if (random.nextInt(WRITTEN_EVERY) == 0) {
        table.checkpoint();
        written = i;
      }
      take(reference, log.get(i));
      take(table, log.get(i));
      if (written >= 0 && random.nextInt(LOADED_EVERY) == 0) {
        table.kill();
        table = CheckpointedIndex.open(directory, LIMITS);
        for (Taken missed : log.subList(written, i + 1)) {
          take(table, missed);
        }
        assertThat(differences(table, reference))
            .as("seed %d, loaded before record %d, told up to %d", seed, written, i)
            .isEmpty();
        loaded++;
      }
    }
    assertThat(differences(table, reference)).as("seed %d, at the end", seed).isEmpty();
    assertThat(loaded).isPositive();
    table.close();
    table = CheckpointedIndex.open(directory, LIMITS);
    assertThat(differences(table, reference)).as("seed %d, closed and opened", seed).isEmpty();
    table.kill();
    for (Outcome outcome : Outcome.values()) {
      System.out.print(outcome + " " + reference.counts().of(outcome) + " ");
    }
    System.out.println("loaded " + loaded + " lines " + reference.dump().size());
  }

  private static void take(CheckpointedIndex index, Taken next) {
    if (next.event() == null) {
      index.missRecords();
    } else {
      index.take(next.event(), next.ms());
    }
  }

  private static List<String> differences(CheckpointedIndex table, CheckpointedIndex reference) {
    List<String> mine = table.dump();
    List<String> theirs = reference.dump();
    Set<String> here = new HashSet<>(mine);
    Set<String> there = new HashSet<>(theirs);
    return Stream.concat(
            mine.stream().filter(line -> !there.contains(line)).map(line -> "here " + line),
            theirs.stream().filter(line -> !here.contains(line)).map(line -> "there " + line))
        .limit(30)
        .toList();
  }
}
