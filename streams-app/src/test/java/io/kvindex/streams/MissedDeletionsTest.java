// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A changelog with a record now and then, and rows that follow it or do not. */
class MissedDeletionsTest {

  private static final int PARTITION = 3;
  private static final Duration LONG = MissedDeletions.LONGEST_ABSENCE;

  /** When each record was written, by offset. */
  private final TreeMap<Long, Instant> log = new TreeMap<>();

  private final List<String> missed = new ArrayList<>();
  private final MissedDeletions deletions =
      new MissedDeletions(
          this::firstSince,
          (partition, away) -> missed.add(partition + " for " + away.toMinutes() + " min"));
  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private long position;

  private long firstSince(int partition, Instant time) {
    assertThat(partition).isEqualTo(PARTITION);
    return log.entrySet().stream()
        .filter(record -> !record.getValue().isBefore(time))
        .mapToLong(record -> record.getKey())
        .findFirst()
        .orElse(end());
  }

  private long end() {
    return log.isEmpty() ? 0 : log.lastKey() + 1;
  }

  /** Others write a record with its transaction's marker every so often. */
  private void pass(Duration time, int records) {
    for (int i = 0; i < records; i++) {
      now = now.plus(time.dividedBy(records));
      log.put(end(), now);
      log.put(end(), now);
    }
    now = records == 0 ? now.plus(time) : now;
  }

  /** All rows are read, up to the last marker. */
  private void follow() {
    position = Math.max(0, end() - 1);
  }

  private void look() {
    deletions.reached(PARTITION, position, now);
    deletions.ofCopy(PARTITION, position, end(), now);
  }

  /** Several looks, as there are five a second. */
  private void followForAWhile() {
    for (int i = 0; i < 4; i++) {
      pass(Duration.ofSeconds(1), 2);
      follow();
      look();
    }
  }

  @Test
  void shouldNotMind_whenRowsFollow() {
    for (int minute = 0; minute < 60; minute++) {
      pass(Duration.ofMinutes(1), 10);
      follow();
      look();
    }
    assertThat(missed).isEmpty();
  }

  @Test
  void shouldNotice_whenOthersWentOnForLong() {
    followForAWhile();
    pass(Duration.ofMinutes(25), 100);
    // What is left of the changelog was read before anybody looked: nothing shows any more.
    follow();
    look();
    assertThat(missed).containsExactly("3 for 25 min");
    followForAWhile();
    assertThat(missed).as("rows built anew").hasSize(1);
  }

  @Test
  void shouldNotice_whenTheCopyHasBecomeItsOwnMeanwhile() {
    followForAWhile();
    pass(Duration.ofMinutes(25), 100);
    deletions.ofOther(PARTITION, now);
    assertThat(missed).containsExactly("3 for 25 min");
  }

  @Test
  void shouldNotMind_whenNothingWasWrittenMeanwhile() {
    followForAWhile();
    pass(Duration.ofSeconds(1), 2);
    follow(); // and then Kafka is gone, and asked in vain
    for (int i = 0; i < 25; i++) {
      deletions.reached(PARTITION, position, now);
      pass(Duration.ofMinutes(1), 0);
    }
    look();
    pass(Duration.ofSeconds(1), 10);
    look();
    follow();
    look();
    pass(Duration.ofMinutes(25), 0);
    look();
    assertThat(missed).isEmpty();
  }

  @Test
  void shouldNotMind_whenTheFirstLookComesBehindTheFirstNewRecords() {
    followForAWhile();
    pass(Duration.ofMinutes(25), 0);
    pass(Duration.ofSeconds(2), 50);
    look();
    assertThat(missed).isEmpty();
  }

  @Test
  void shouldNotMind_whenTheAbsenceWasShort() {
    followForAWhile();
    pass(LONG.minusMinutes(1), 100);
    look();
    follow();
    look();
    assertThat(missed).isEmpty();
  }

  @Test
  void shouldNotMind_whenRowsAreAlwaysSomeMinutesLate() {
    List<Long> ends = new ArrayList<>();
    for (int minute = 0; minute < 60; minute++) {
      pass(Duration.ofMinutes(1), 10);
      ends.add(end());
      position = ends.get(Math.max(0, minute - 3));
      look();
    }
    assertThat(missed).isEmpty();
  }

  @Test
  void shouldNotMind_whenWhatIsOwnedWasNeverACopy() {
    deletions.ofOther(PARTITION, now);
    pass(Duration.ofMinutes(25), 100);
    deletions.ofOther(PARTITION, now);
    assertThat(missed).isEmpty();
  }

  @Test
  void shouldForgetACopy_whenItBecomesItsOwnInTime() {
    followForAWhile();
    pass(Duration.ofSeconds(5), 10);
    deletions.ofOther(PARTITION, now);
    pass(Duration.ofMinutes(25), 100);
    deletions.ofOther(PARTITION, now);
    assertThat(missed).isEmpty();
  }
}
