// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.PartitionView.State;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Rows up to record 79 are visible, the owner has committed all before record 100. */
class FirstUnappliedTest {

  private static final long COMMITTED = 100;
  private static final long APPLIED = 79;

  /** Knows its state and how far it is. */
  private static PartitionView view(State state, long taken) {
    return view(state, taken, APPLIED);
  }

  private static PartitionView view(State state, long taken, long applied) {
    return (PartitionView)
        Proxy.newProxyInstance(
            FirstUnappliedTest.class.getClassLoader(),
            new Class<?>[] {PartitionView.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "state" -> state;
                  case "appliedOffset" -> applied;
                  case "takenOffset" -> taken;
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private static RestoreWatch.Reading reading(boolean standby, long position, long end) {
    return new RestoreWatch.Reading(standby, 0, position, end, 0, 0);
  }

  private static long first(State state, long taken, RestoreWatch.@Nullable Reading reading) {
    return FirstUnapplied.of(view(state, taken), reading, COMMITTED);
  }

  @Test
  void shouldBeWhatTheOwnerHasNotTaken_whoeverCommits() {
    assertThat(first(State.LIVE, 119, null)).as("more than committed").isEqualTo(120);
    assertThat(first(State.LIVE, 89, null)).as("another owner commits").isEqualTo(90);
  }

  /** Also one with all rows there are: the changelog may have lost its last ones. */
  @Test
  void shouldBeTheNextOfItsRows_whenItIsACopy() {
    assertThat(first(State.LIVE, -1, reading(true, 500, 500))).as("standby").isEqualTo(80);
    assertThat(first(State.LIVE, 89, reading(true, 501, 500))).as("former owner").isEqualTo(80);
    assertThat(first(State.LIVE, -1, reading(false, 500, 900))).as("promoted").isEqualTo(80);
    assertThat(first(State.LIVE, -1, null)).as("before that").isEqualTo(80);
    assertThat(first(State.LIVE, -1, reading(false, 899, 900))).as("done").isEqualTo(80);
  }

  @Test
  void shouldBeTheNextOfItsRows_whenNobodyFollowsAnyMore() {
    assertThat(first(State.CLOSED, 119, null)).isEqualTo(80);
    assertThat(first(State.CLOSED, -1, reading(true, 500, 500))).isEqualTo(80);
  }

  /** An empty changelog: what was committed with the one before is nowhere. */
  @Test
  void shouldBeTheFirstOfAll_whenACopyOfEverythingHasNothing() {
    assertThat(FirstUnapplied.of(view(State.LIVE, -1, -1), reading(true, 0, 0), COMMITTED))
        .isZero();
  }

  /** Rows are committed with the place they go with, and asked for later than that. */
  @Test
  void shouldNotBeBeyondWhatIsCommitted_whenItIsACopy() {
    assertThat(FirstUnapplied.of(view(State.LIVE, -1), reading(false, 1, 9), 50)).isEqualTo(50);
  }
}
