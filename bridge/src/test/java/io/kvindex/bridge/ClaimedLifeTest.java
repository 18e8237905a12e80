// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.bridge.follow.WorkerStatus;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

/** Lives of engines that more than one bridge has followed. */
class ClaimedLifeTest extends LivesFixture {

  @Test
  void shouldGoOnInTheNewLife_whenAnotherBridgeTakesOver() throws Exception {
    engine.restart();
    engine.publish(0, 2);
    awaitLife(2, 2);
    bridge.close();
    engine.publishUnheard(3, 6);
    bridge();
    awaitLife(2, 6);
    assertThat(ids(1)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L);
    assertThat(lives()).hasSize(2);
  }

  @Test
  void shouldClaimAgain_whenAnotherBridgeClaimsALife() throws Exception {
    ConsumerRecord<byte[], byte[]> own = newestProgress();
    long generation = worker(bridge).incarnation().generation();
    BridgeProgress claim = BridgeProgress.claim(worker(bridge).registration(), generation, null);
    long foreign = site.progress(own.partition(), claim);
    awaitLife(2, 9);
    assertThat(worker(bridge).incarnation().life()).isGreaterThan(foreign);
    assertThat(ids(1)).containsExactlyElementsOf(LongStream.rangeClosed(0, 9).boxed().toList());
    engine.publish(10, 12);
    awaitLife(2, 12);
  }

  @Test
  void shouldBeginALife_whenNothingIsKnownOfTheOneThatWasClaimed() throws Exception {
    ConsumerRecord<byte[], byte[]> own = newestProgress();
    WorkerStatus worker = worker(bridge);
    bridge.halt();
    site.progress(
        own.partition(),
        BridgeProgress.claim(worker.registration(), worker.incarnation().generation(), null));
    bridge();
    awaitLife(2, 9);
    assertThat(lives().get(1).get(0).isOpening()).isTrue();
    assertThat(ids(1)).containsExactlyElementsOf(LongStream.rangeClosed(0, 9).boxed().toList());
  }

  @Test
  void shouldHaveTheLastWord_whenAnotherBridgeWritesOldProgress() throws Exception {
    awaitProgress(0, 9);
    ConsumerRecord<byte[], byte[]> own = newestProgress();
    BridgeProgress old = BridgeProgressCodec.decode(own.value());
    engine.publish(10, 19);
    awaitProgress(own.offset() + 1, 19);
    long offset = site.progress(own.partition(), old);
    awaitProgress(offset + 1, 19);
    assertThat(lives()).hasSize(1);
  }

  private void awaitProgress(long from, long sequence) {
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              ConsumerRecord<byte[], byte[]> newest = newestProgress();
              assertThat(newest.offset()).isGreaterThanOrEqualTo(from);
              assertThat(BridgeProgressCodec.decode(newest.value()).lastSequence())
                  .isEqualTo(sequence);
            });
  }
}
