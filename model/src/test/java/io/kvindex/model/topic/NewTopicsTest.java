// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.internals.KafkaFutureImpl;
import org.junit.jupiter.api.Test;

class NewTopicsTest {

  private final AtomicInteger asked = new AtomicInteger();

  private KafkaFuture<String> answer(int unknown, RuntimeException problem) {
    KafkaFutureImpl<String> future = new KafkaFutureImpl<>();
    if (asked.incrementAndGet() <= unknown) {
      future.completeExceptionally(problem);
    } else {
      future.complete("known");
    }
    return future;
  }

  @Test
  void shouldAskAgain_whileABrokerDoesNotKnowThem() throws Exception {
    RuntimeException unknown = new UnknownTopicOrPartitionException();
    assertThat(NewTopics.onceKnown(() -> answer(3, unknown), 10_000)).isEqualTo("known");
    assertThat(asked).hasValue(4);
  }

  @Test
  void shouldGiveUp_whenNobodyKnowsThem_orTheClusterRefuses() {
    RuntimeException unknown = new UnknownTopicOrPartitionException();
    assertThatThrownBy(() -> NewTopics.onceKnown(() -> answer(1_000_000, unknown), 100))
        .isInstanceOf(ExecutionException.class)
        .hasCause(unknown);
    asked.set(0);
    RuntimeException refused = new TopicAuthorizationException("no");
    assertThatThrownBy(() -> NewTopics.onceKnown(() -> answer(1, refused), 10_000))
        .hasCause(refused);
    assertThat(asked).hasValue(1);
  }
}
