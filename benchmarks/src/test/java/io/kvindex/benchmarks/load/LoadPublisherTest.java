// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.EngineEvent.Removed;
import io.kvindex.bridge.decode.EngineEvent.Stored;
import io.kvindex.model.event.Parent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.zeromq.ZContext;

class LoadPublisherTest {
  private static final LoadShape SHAPE = new LoadShape(512, 8, 2, 4, 3);

  private final ZContext context = new ZContext();

  @AfterEach
  void close() {
    context.close();
  }

  @Test
  void shouldPublishWhatVllmWould_whenAnEngineChurns() {
    LoadPublisher publisher = new LoadPublisher(context, 1_000);
    Churn churn = new Churn(3, 100, SHAPE);
    int operations = 0;
    for (int i = 0; i < 200; i++) {
      operations += churn.step(publisher);
      assertThat(publisher.operationsUpTo(i)).isEqualTo(operations);
    }

    List<EngineBatch> batches = PublishedBatches.replay(publisher, 0);

    assertThat(batches).hasSize(200);
    Set<Long> held = new HashSet<>();
    int seen = 0;
    for (EngineBatch batch : batches) {
      assertThat(batch.skipped()).isEmpty();
      for (EngineEvent event : batch.events()) {
        seen += apply(event, held);
      }
    }
    assertThat(seen).isEqualTo(operations);
    assertThat(held.size()).isBetween(70, 100);
  }

  private static int apply(EngineEvent event, Set<Long> held) {
    if (event instanceof Removed removed) {
      assertThat(held.remove(removed.hashes().get(0))).as("held before").isTrue();
      return 1;
    }
    Stored stored = (Stored) event;
    assertThat(stored.blockSize()).isEqualTo(LoadShape.BLOCK_SIZE);
    assertThat(stored.tokens().size()).isEqualTo(stored.hashes().size() * LoadShape.BLOCK_SIZE);
    for (int i = 0; i < stored.hashes().size(); i++) {
      assertThat(held.add(stored.hashes().get(i))).as("new").isTrue();
      assertThat(stored.tokens().first(stored.tokens().size())[i * LoadShape.BLOCK_SIZE + 5])
          .isEqualTo(LoadShape.token(stored.hashes().get(i), 5));
    }
    return stored.hashes().size();
  }

  @Test
  void shouldReplayFromTheAskedSequence_whenItIsStillKept() {
    LoadPublisher publisher = new LoadPublisher(context, 10);
    Churn churn = new Churn(0, 100, null);
    for (int i = 0; i < 25; i++) {
      churn.step(publisher);
    }

    assertThat(PublishedBatches.replay(publisher, 20)).hasSize(5);
    assertThat(PublishedBatches.replay(publisher, 0)).as("the last ten").hasSize(10);
  }

  @Test
  void shouldReplayOnlyWhatFollows_whenToldToForget() {
    LoadPublisher publisher = new LoadPublisher(context, 10);
    Churn churn = new Churn(0, 100, null);
    for (int i = 0; i < 6; i++) {
      churn.step(publisher);
    }
    publisher.forgetReplay();
    churn.step(publisher);
    churn.step(publisher);

    assertThat(PublishedBatches.replay(publisher, 0)).hasSize(2);
  }

  @Test
  void shouldNameTheWholePrompt_whenAnEngineChurns() {
    LoadPublisher publisher = new LoadPublisher(context, 1_000);
    Churn churn = new Churn(3, 1_000, SHAPE);
    List<long[]> chains = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      churn.step(publisher);
      chains.add(churn.chain());
    }

    List<EngineBatch> batches = PublishedBatches.replay(publisher, 0);
    for (int i = 0; i < chains.size(); i++) {
      long[] chain = chains.get(i);
      Stored stored = (Stored) batches.get(i).events().get(0);
      int before = chain.length - stored.hashes().size();

      assertThat(Arrays.copyOfRange(chain, before, chain.length))
          .isEqualTo(stored.hashes().toArray());
      assertThat(stored.parent())
          .isEqualTo(before == 0 ? Parent.UNKNOWN : Parent.of(chain[before - 1]));
      if (before > 0 && (i == 0 || chains.get(i - 1).length != before)) {
        assertThat(IntStream.range(0, SHAPE.stems()).mapToObj(stem -> SHAPE.stem(stem, before)))
            .as("a stem's first blocks")
            .anyMatch(stem -> Arrays.equals(stem, 0, before, chain, 0, before));
      }
    }
  }
}
