// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.Connection;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.query.status.ProgressTable.Unconnected;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Whose blocks nobody stands for, by what bridges say of their connections. */
class UnconnectedTest {

  private static final PublisherId ENGINE = new PublisherId("e", "default", 0);
  private static final TableId TABLE = new TableId("default", "m", 16, HashProfile.XXH3_DEFAULT);
  private static final Connection UP = new Connection(true, 5, true);
  private static final Connection UNPROVEN = new Connection(true, 5, false);
  private static final Connection DOWN = new Connection(false, 5, false);

  private final Unconnected unconnected = new Unconnected();

  @Test
  void shouldNameNobody_whenNothingWasAnnouncedYet() {
    say(3, 7L, null, DOWN);
    assertThat(unconnected.now()).isEmpty();
    say(3, null, null, null);
    assertThat(unconnected.now()).isEmpty();
  }

  @Test
  void shouldNameThePublisher_untilItIsShownWhoIsConnected() {
    say(3, 7L, 10L, UP);
    assertThat(unconnected.now()).isEmpty();
    say(3, 7L, 10L, DOWN);
    Map<PublisherId, Long> named = unconnected.now();
    assertThat(named).containsExactly(Map.entry(ENGINE, 3L));
    say(3, 7L, 10L, UNPROVEN);
    assertThat(unconnected.now()).as("the same object").isSameAs(named);
    say(3, 7L, 10L, UP);
    assertThat(unconnected.now()).isEmpty();
  }

  @Test
  void shouldNameThePublisher_whileAnotherLifeIsClaimedAndNotConnected() {
    say(3, 7L, 10L, UP);
    say(3, null, null, null);
    assertThat(unconnected.now()).containsKey(ENGINE);
    say(3, 9L, null, DOWN);
    assertThat(unconnected.now()).as("it may have blocks that persist").containsKey(ENGINE);
    say(3, 9L, null, UP);
    assertThat(unconnected.now()).isEmpty();
  }

  @Test
  void shouldNameNobody_whenAnotherRegistrationOrNoneTakesItsPlace() {
    say(3, 7L, 10L, DOWN);
    say(4, null, null, null);
    assertThat(unconnected.now()).isEmpty();
    say(4, 11L, 0L, DOWN);
    unconnected.remove(ENGINE);
    unconnected.publish();
    assertThat(unconnected.now()).isEmpty();
  }

  @Test
  void shouldTrustWhoIsConnected_whenAnOlderBridgeSaysSo() {
    say(3, 7L, 10L, null);
    assertThat(unconnected.now()).isEmpty();
    say(3, 7L, 10L, new Connection(true, 5, true));
    assertThat(unconnected.now()).isEmpty();
    say(3, 7L, 10L, new Connection(false, 5, false));
    assertThat(unconnected.now()).containsKey(ENGINE);
  }

  private void say(
      long generation, @Nullable Long life, @Nullable Long last, @Nullable Connection connection) {
    unconnected.note(
        new BridgeProgress(
            ENGINE,
            TABLE,
            SourceType.VLLM,
            generation,
            life,
            0,
            last,
            0,
            PublisherState.ACTIVE,
            null,
            Map.of(),
            Map.of(),
            List.of(),
            connection,
            null,
            null));
    unconnected.publish();
  }
}
