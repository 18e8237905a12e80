// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.deadline.Deadline;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who is asked, and whose answer counts. */
@Timeout(20)
class RaceTest {
  private static final String GOOD = "good";
  private static final String STALE = "stale";

  /** A stale answer's age is behind its name, where it has one. */
  private static final Comparator<String> FRESHEST_FIRST =
      Comparator.comparing(answer -> answer.contains("@") ? answer.split("@")[1] : "");

  /** Says nothing for this race. */
  private static final String SILENT = "silent";

  /** Refuses. */
  private static final String FAILS = "fails";

  private final List<String> asked = new ArrayList<>();
  private final List<Race.Answer<String>> late = new ArrayList<>();

  /** Each replica does what its name says. */
  private @Nullable String run(Race<String> race, long millis) throws InterruptedException {
    return race.run(
        (address, forNanos, answer) -> {
          asked.add(address);
          if (address.startsWith(SILENT)) {
            late.add(answer);
          } else if (address.startsWith(FAILS)) {
            answer.told(null, new IllegalStateException("refused"));
          } else {
            answer.told(address, null);
          }
        },
        TimeUnit.MILLISECONDS.toNanos(millis),
        value -> value.startsWith(GOOD),
        FRESHEST_FIRST);
  }

  private static Race<String> race(List<String> addresses, long longestNanos) {
    return new Race<>(addresses, address -> false, longestNanos);
  }

  @Test
  void shouldAskOnlyTheFirst_whenItsAnswerIsGood() throws InterruptedException {
    Race<String> race = race(List.of("good:1", "good:2"), Race.LONGEST_NANOS);
    assertThat(run(race, 1_000)).isEqualTo("good:1");
    assertThat(race.winner()).isEqualTo("good:1");
    assertThat(asked).containsExactly("good:1");
  }

  @Test
  void shouldAskTheNextAtOnce_whenOneFails() throws InterruptedException {
    Race<String> race = race(List.of("fails:1", "fails:2", "good:3"), Race.LONGEST_NANOS);
    assertThat(run(race, 1_000)).isEqualTo("good:3");
    assertThat(race.asked()).isEqualTo(3);
    assertThat(race.problems()).contains("fails:1", "refused", "fails:2");
  }

  @Test
  void shouldAskTheNext_whenOneIsLate() throws InterruptedException {
    Race<String> race = race(List.of("silent:1", "good:2"), Race.LONGEST_NANOS);
    long start = System.nanoTime();
    assertThat(run(race, 1_000)).isEqualTo("good:2");
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(Race.LATE_NANOS);
  }

  @Test
  void shouldPreferTheGoodAnswer_whenTheFirstIsStale() throws InterruptedException {
    assertThat(run(race(List.of("stale:1", "good:2"), Race.LONGEST_NANOS), 1_000))
        .isEqualTo("good:2");
  }

  @Test
  void shouldTakeTheFirstStaleOne_whenNobodyHasBetter() throws InterruptedException {
    Race<String> race = race(List.of("stale:1", "fails:2", "stale:3"), Race.LONGEST_NANOS);
    assertThat(run(race, 1_000)).isEqualTo("stale:1");
    assertThat(race.winner()).isEqualTo("stale:1");
    assertThat(asked).hasSize(3);
  }

  @Test
  void shouldTakeTheFreshest_whenAllAreStale() throws InterruptedException {
    Race<String> race = race(List.of("stale:1@9", "stale:2@2", "stale:3@5"), Race.LONGEST_NANOS);
    assertThat(run(race, 1_000)).isEqualTo("stale:2@2");
    assertThat(race.winner()).isEqualTo("stale:2@2");
  }

  /** Else the replica that hangs would hold a thread for each question as long as it hangs. */
  @Test
  void shouldNotWaitForTheSilent_whenThereIsAStaleAnswer() throws InterruptedException {
    Race<String> race = race(List.of("stale:1", "silent:2"), TimeUnit.MINUTES.toNanos(1));
    assertThat(run(race, 60_000)).isEqualTo("stale:1");
    assertThat(asked).containsExactly("stale:1", "silent:2");
  }

  @Test
  void shouldAskNoMore_whenOnlyThoseAreLeftThatHaveNotAnsweredForAWhile()
      throws InterruptedException {
    Race<String> race =
        new Race<>(
            List.of("stale:1", "silent:2"),
            address -> address.startsWith(SILENT),
            TimeUnit.MINUTES.toNanos(1));
    assertThat(run(race, 60_000)).isEqualTo("stale:1");
    assertThat(asked).containsExactly("stale:1");
  }

  @Test
  void shouldWaitForTheSilent_whenNobodyElseAnswers() throws InterruptedException {
    Race<String> race =
        new Race<>(
            List.of("fails:1", "good:2"), address -> address.startsWith(GOOD), Race.LONGEST_NANOS);
    assertThat(run(race, 1_000)).isEqualTo("good:2");
  }

  @Test
  void shouldEndWithinTheDeadline_whenAllAreSilent() throws InterruptedException {
    Race<String> race = race(List.of("silent:1", "silent:2", "silent:3"), Race.LONGEST_NANOS);
    long start = System.nanoTime();
    assertThat(run(race, 60)).isNull();
    long took = System.nanoTime() - start;
    assertThat(took).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(60));
    assertThat(race.problems()).isEqualTo("no answer in time");
    assertThat(race.winner()).isNull();
    // Nobody listens any more, and nothing goes wrong by that.
    late.forEach(answer -> answer.told(GOOD, null));
  }

  /** One more question for each that hangs would be the more work the busier a site is. */
  @Test
  void shouldWaitForTwoAtMost_howeverManyAreThere() throws InterruptedException {
    Race<String> race = race(List.of("silent:1", "silent:2", "good:3"), Race.LONGEST_NANOS);
    assertThat(run(race, 100)).isNull();
    assertThat(asked).containsExactly("silent:1", "silent:2");
  }

  /** Whoever asks them finds that out, in the middle of a question, too. */
  @Test
  void shouldAskAThird_whenTheFirstTwoTurnOutToBeSilent() throws InterruptedException {
    Race<String> race =
        new Race<>(
            List.of("silent:1", "silent:2", "silent:3", "good:4"),
            address -> asked.size() > 1 && address.startsWith(SILENT),
            TimeUnit.MINUTES.toNanos(1));
    assertThat(run(race, 60_000)).isEqualTo("good:4");
  }

  @Test
  void shouldEndBeforeTheDeadline_whenSomethingElseIsThere() throws InterruptedException {
    Race<String> race = race(List.of("silent:1"), Race.BESIDE_OWN_NANOS);
    long start = System.nanoTime();
    assertThat(run(race, 10_000)).isNull();
    assertThat(System.nanoTime() - start)
        .isBetween(Race.BESIDE_OWN_NANOS, TimeUnit.SECONDS.toNanos(5));
  }

  @Test
  void shouldAskNobody_whenNoTimeIsLeft() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    Race<TableNames> race = new Race<>(List.of("good:1"), address -> false, Race.LONGEST_NANOS);
    try (ReplicaClient client = new ReplicaClient()) {
      Forwarding forwarding =
          new Forwarding(client, new FailureDetector(System::nanoTime), registry);
      NamesRequest names = NamesRequest.of(new TableId("t", "m", 16, HashProfile.XXH3_DEFAULT));
      Deadline past = Deadline.of("0", System.nanoTime());
      assertThat(forwarding.names(race, names, past, true)).isNull();
    }
    assertThat(race.asked()).isZero();
    assertThat(registry.get("kvindex.forward.hedged").counter().count()).isZero();
    assertThat(registry.get("kvindex.forward.unanswered").counter().count()).isEqualTo(1);
  }

  @Test
  void shouldTakeALateAnswer_whenNobodyElseGivesOne() throws InterruptedException {
    Race<String> race = race(List.of("silent:1", "later:2"), Race.LONGEST_NANOS);
    String answer =
        race.run(
            (address, forNanos, one) -> {
              if (address.startsWith(SILENT)) {
                late.add(one);
              } else {
                Objects.requireNonNull(late.get(0)).told(STALE, null);
                one.told(null, new IllegalStateException("refused"));
              }
            },
            TimeUnit.SECONDS.toNanos(10),
            value -> value.startsWith(GOOD),
            FRESHEST_FIRST);
    assertThat(answer).isEqualTo(STALE);
  }
}
