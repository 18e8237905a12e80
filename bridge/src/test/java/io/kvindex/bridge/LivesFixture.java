// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.bridge.testing.Site;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.progress.PublisherState;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;

/** One engine, of which ten batches are in the log; who extends this restarts it. */
abstract class LivesFixture extends BridgeFixture {

  FakeEngine engine;
  Bridge bridge;

  @BeforeEach
  void followTenBatches() throws Exception {
    engine = engine(true);
    bridge = bridge();
    register(Site.engine(name, engine.endpoint(), engine.replayEndpoint()));
    engine.publish(0, 9);
    awaitIds(9);
    awaitState(bridge, PublisherState.ACTIVE);
  }

  void awaitLife(int number, long last) {
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              List<List<EventRecord>> lives = lives();
              assertThat(lives).hasSize(number);
              List<Long> ids = ids(number - 1);
              assertThat(ids).isNotEmpty();
              assertThat(ids.get(ids.size() - 1)).isEqualTo(last);
            });
  }

  /** The records of each life, in the order of the log. */
  List<List<EventRecord>> lives() {
    return site.events(name).stream()
        .collect(
            Collectors.groupingBy(
                record -> record.incarnation().life(), TreeMap::new, Collectors.toList()))
        .values()
        .stream()
        .toList();
  }

  /** Batch numbers of a life; those the log has twice after a failed send only once. */
  List<Long> ids(int life) {
    return lives().get(life).stream()
        .filter(record -> !record.isOpening())
        .map(record -> record.position().eventId())
        .distinct()
        .toList();
  }
}
