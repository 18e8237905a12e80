// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TableProducerTest {

  private static @Nullable Exception toldOf(@Nullable Exception failure) {
    AtomicReference<@Nullable Exception> told = new AtomicReference<>();
    TableProducer.told((metadata, e) -> told.set(e)).onCompletion(null, failure);
    return told.get();
  }

  @Test
  void aTransactionThatWasEndedIsTakenForAFencedProducer() {
    Exception plain = new InvalidTxnStateException("ended");
    Exception within = new KafkaException("in an error state", plain);

    assertThat(toldOf(plain)).isInstanceOf(InvalidProducerEpochException.class).hasCause(plain);
    assertThat(toldOf(within)).isInstanceOf(InvalidProducerEpochException.class).hasCause(within);
  }

  @Test
  void everythingElseIsTakenForWhatItIs() {
    Exception other = new RecordTooLargeException("17 bytes");

    assertThat(toldOf(other)).isSameAs(other);
    assertThat(toldOf(null)).isNull();
    assertThat(TableProducer.isEnded(new KafkaException("no cause"))).isFalse();
  }
}
