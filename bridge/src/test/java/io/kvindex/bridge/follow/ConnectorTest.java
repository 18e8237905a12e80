// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.testing.FakeEngine;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Connectors to a store, which announce what they put there and never what is gone: LMCache's,
 * Mooncake's, Ascend's.
 */
@Timeout(60)
class ConnectorTest extends FollowerFixture {

  private static final String NODE = "kv@node:n1@llama";
  private static final String POOL = "kv@pool:p1@llama";

  /**
   * @param expiry seconds that blocks count, 0 = until they are removed
   */
  @ParameterizedTest
  @CsvSource({
    "'', GPU, 0",
    "'', CPU, 0", // the engine's own offloading, which announces removals
    "kv@10.0.0.7@llama, CPU, 0", // topics of llm-d
    "'', cpu, 600",
    "'', cuda:0, 600",
    "kv@node:n1@llama, lmcache-l1, 600",
  })
  void shouldExpire_whenNobodyAnnouncesRemovals(String topic, String medium, int expiry)
      throws Exception {
    Following following = follow();
    awaitConnected(following);
    publish(topic, 0, new VllmStore().medium(medium).payload());
    await().atMost(SOON).until(() -> isSent("e", 0));
    assertThat(newest().traits().expirySeconds()).isEqualTo(expiry);
    publish(topic, 1, new VllmStore().hashes(17, 18).payload());
    await().atMost(SOON).until(() -> isSent("e", 1));
    assertThat(newest().traits().expirySeconds()).isEqualTo(expiry);
  }

  @Test
  void shouldKeepOffTheInstance_whenATopicIsAPools() throws Exception {
    Following following = follow((String) null);
    awaitConnected(following);
    publish(POOL, 0, new VllmStore().medium("lmcache-l2-redis").payload());
    await().atMost(SOON).until(() -> isSent("e", 0));
    assertThat(newest().events()).isEmpty();
    publish(NODE, 1, new VllmStore().medium("lmcache-l1").payload());
    await().atMost(SOON).until(() -> isSent("e", 1));
    assertThat(newest().events()).singleElement().isInstanceOf(KvEvent.Stored.class);
    publish(POOL, 2, FakeEngine.payload(2)); // of the device, as it says
    await().atMost(SOON).until(() -> isSent("e", 2));
    assertThat(newest().events()).isEmpty();
    assertThat(following.status().counters()).containsEntry("skipped_not_local", 2L);
  }

  /** A replay of the old framing does not tell the topic. */
  @Test
  void shouldTakeItForThePools_whenAReplayDoesNotTellTheTopic() throws Exception {
    Following following = follow();
    awaitConnected(following);
    publish(POOL, 0, new VllmStore().medium("lmcache-l2-redis").payload());
    await().atMost(SOON).until(() -> isSent("e", 0));
    engine.publishUnheard(1, new VllmStore().medium("lmcache-l1").payload());
    publish(NODE, 2, new VllmStore().medium("lmcache-l1").hashes(17, 18).payload());
    await().atMost(SOON).until(() -> isSent("e", 2));
    assertThat(sentOf("e").get(1).events()).isEmpty();
  }

  private void publish(String topic, long sequence, byte[] payload) {
    engine.publishUnheard(sequence, payload);
    engine.live(topic.getBytes(StandardCharsets.UTF_8), FakeEngine.sequence(sequence), payload);
  }

  private EventRecord newest() {
    List<EventRecord> sent = sentOf("e");
    return sent.get(sent.size() - 1);
  }

  private static void awaitConnected(Following following) {
    await()
        .atMost(SOON)
        .until(() -> Objects.requireNonNull(following.progress().connection()).proven());
  }
}
