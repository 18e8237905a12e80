// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** One partition's commit is a commit of all that run here. */
class StandbyTurnTest {
  private static final String OWN = "a:1";
  private static final Holders COPIED = new Holders(OWN, List.of("b:1"));
  private static final Holders ALONE = new Holders(OWN, List.of());

  private final List<Holders> holders = new ArrayList<>(List.of(COPIED, ALONE));
  private final Set<Integer> restoring = new HashSet<>();
  private final Set<Integer> behind = new HashSet<>();
  private final StandbyTurn turn = turn(OWN);

  private StandbyTurn turn(@Nullable String own) {
    return new StandbyTurn(
        own,
        2,
        holders::get,
        partition -> !restoring.contains(partition),
        partition -> !behind.contains(partition));
  }

  @Test
  void shouldCommit_whenAStandbyWaitsAndAllKeepUp() {
    assertThat(turn.test(0)).isTrue();
    assertThat(turn.test(1)).as("nobody copies it").isFalse();
    assertThat(turn(null).test(0)).as("it does not know which are its own").isTrue();
  }

  @Test
  void shouldWaitForTheInterval_whenTheTableItselfIsBehind() {
    behind.add(0);
    assertThat(turn.test(0)).isFalse();
    assertThat(turn(null).test(0)).isFalse();
  }

  @Test
  void shouldWaitForTheInterval_whenAnotherActiveOneCatchesUp() {
    behind.add(1);
    assertThat(turn.test(0)).isFalse();
    behind.clear();
    assertThat(turn.test(0)).isTrue();
  }

  @Test
  void shouldCommit_whenTheOneBehindIsNotCommittedHere() {
    behind.add(1);
    holders.set(1, new Holders("b:1", List.of(OWN)));
    assertThat(turn.test(0)).as("it is a standby here").isTrue();
    holders.set(1, ALONE);
    restoring.add(1);
    assertThat(turn.test(0)).as("it is being restored").isTrue();
    holders.set(1, Holders.NONE);
    restoring.clear();
    assertThat(turn.test(0)).as("nobody is known to hold it").isTrue();
  }
}
