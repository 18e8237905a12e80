// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.testing.Site;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.progress.PublisherState;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GapPolicyTest extends FollowerFixture {

  GapPolicyTest() {
    super(ReplayPolicy.DEFAULT, FollowLimits.DEFAULT.with(GapPolicy.RESET));
  }

  @Test
  void shouldThrowAwayWhatWasBefore_whenBatchesAreLostAndThatIsThePolicy() throws Exception {
    Following following =
        follow(
            new Life(
                Site.engine("e", engine.endpoint(), null),
                new Incarnation(3, 7, 0),
                null,
                false,
                false));
    await().atMost(SOON).until(() -> following.status().connected());
    engine.publish(0, 2);
    await().atMost(SOON).until(() -> isSent("e", 2));
    engine.publishUnheard(3, 4);
    engine.publish(5, 5);
    await().atMost(SOON).until(() -> isSent("e", 5));
    List<KvEvent> events = sentOf("e").get(3).events();
    assertThat(events.subList(0, 2))
        .containsExactly(new KvEvent.Gap(3, 4), new KvEvent.Cleared(0, ClearScope.ALL));
    assertThat(events.subList(2, events.size()))
        .isNotEmpty()
        .allMatch(KvEvent.Stored.class::isInstance);
    assertThat(following.status().state()).isEqualTo(PublisherState.ACTIVE);
    assertThat(following.status().counters())
        .containsEntry("gap_resets", 1L)
        .doesNotContainKey("events_cleared");
    await()
        .atMost(SOON)
        .until(() -> isSent("e", 5) && Long.valueOf(5).equals(following.progress().lastSequence()));
    assertThat(following.progress().clears()).as("clears of the engine's own").isZero();
    assertThat(registry.get("kvindex.bridge.gap.resets").counter().count()).isEqualTo(1);
  }
}
