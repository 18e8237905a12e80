// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.protocol.Errors;
import org.junit.jupiter.api.Test;

class TableProducerTest {

  @Test
  void knowsATransactionThatWasEndedInAllItsShapes() {
    Exception plain = new InvalidTxnStateException("ended");

    assertThat(TableProducer.isEnded(plain)).isTrue();
    assertThat(TableProducer.isEnded(new KafkaException("in an error state", plain))).isTrue();
    assertThat(
            TableProducer.isEnded(
                new KafkaException(
                    "Unexpected error in TxnOffsetCommitResponse: "
                        + Errors.INVALID_TXN_STATE.message())))
        .isTrue();
  }

  @Test
  void takesEverythingElseForWhatItIs() {
    assertThat(TableProducer.isEnded(new RecordTooLargeException("17 bytes"))).isFalse();
    assertThat(TableProducer.isEnded(new KafkaException("no cause"))).isFalse();
    assertThat(TableProducer.isEnded(new IllegalStateException(Errors.INVALID_TXN_STATE.message())))
        .isFalse();
  }
}
