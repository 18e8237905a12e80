// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class HangingTransactionsTest {

  private static final TopicPartition ROWS = new TopicPartition("rows", 1);
  private static final TopicPartition OFFSETS = new TopicPartition("__consumer_offsets", 0);
  private static final long OURS = 3;

  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final Cluster cluster = new Cluster();
  private final HangingTransactions hanging = new HangingTransactions(cluster, metrics);

  @Test
  void shouldAbortOnEachPartition_whenTheCoordinatorIsDoneForLong() throws Exception {
    cluster.states.put(OURS, TransactionState.COMPLETE_COMMIT);
    cluster.open(ROWS, OURS, 0, 0);
    cluster.open(OFFSETS, OURS, 0, 6);
    look(2);
    assertThat(cluster.aborted).isEmpty();
    look(1);
    assertThat(cluster.aborted)
        .containsExactlyInAnyOrder(
            new AbortTransactionSpec(ROWS, OURS, (short) 0, 0),
            new AbortTransactionSpec(OFFSETS, OURS, (short) 0, 0));
    assertThat(metrics.counter("kvindex.transactions.aborted").count()).isEqualTo(2);
    assertThat(metrics.counter("kvindex.transactions.rows.lost").count()).isZero();
  }

  @Test
  void shouldCountRowsAsLost_whenOnlyTheirMarkerIsMissing() throws Exception {
    cluster.states.put(OURS, TransactionState.COMPLETE_COMMIT);
    cluster.open(ROWS, OURS, 0, 0);
    cluster.open(OFFSETS, OURS + 1, 0, 6);
    look(3);
    assertThat(cluster.aborted).containsExactly(new AbortTransactionSpec(ROWS, OURS, (short) 0, 0));
    assertThat(metrics.counter("kvindex.transactions.rows.lost").count()).isEqualTo(1);
  }

  @Test
  void shouldWaitAnew_whenAnotherTransactionIsSeen() throws Exception {
    cluster.states.put(OURS, TransactionState.EMPTY);
    for (int i = 0; i < 20; i++) {
      cluster.open(ROWS, OURS, 0, i);
      look(1);
    }
    assertThat(cluster.aborted).isEmpty();
  }

  @Test
  void shouldLeaveItAlone_whenItIsGoingOn() throws Exception {
    for (TransactionState state :
        List.of(
            TransactionState.ONGOING,
            TransactionState.PREPARE_COMMIT,
            TransactionState.PREPARE_ABORT,
            TransactionState.PREPARE_EPOCH_FENCE,
            TransactionState.UNKNOWN)) {
      cluster.states.put(OURS, state);
      cluster.open(ROWS, OURS, 0, 0);
      look(10);
    }
    assertThat(cluster.aborted).isEmpty();
  }

  @Test
  void shouldLeaveItAlone_whenItIsAnothersOrClosed() throws Exception {
    cluster.states.put(OURS, TransactionState.EMPTY);
    cluster.open(ROWS, OURS + 1, 0, 0);
    cluster.open(OFFSETS, OURS, 0, -1);
    look(10);
    assertThat(cluster.aborted).isEmpty();
  }

  private void look(int times) throws Exception {
    for (int i = 0; i < times; i++) {
      hanging.look();
    }
  }

  private static final class Cluster implements TransactionsOfApp {
    private final Map<Long, TransactionState> states = new HashMap<>();
    private final Map<TopicPartition, List<ProducerState>> producers = new HashMap<>();
    private final List<AbortTransactionSpec> aborted = new ArrayList<>();

    void open(TopicPartition partition, long producer, int epoch, long start) {
      producers.put(
          partition,
          List.of(
              new ProducerState(
                  producer,
                  epoch,
                  0,
                  0,
                  OptionalInt.empty(),
                  start < 0 ? OptionalLong.empty() : OptionalLong.of(start))));
    }

    @Override
    public Map<Long, TransactionState> states() {
      return states;
    }

    @Override
    public Map<TopicPartition, List<ProducerState>> producers() {
      return producers;
    }

    @Override
    public void abort(AbortTransactionSpec spec) {
      aborted.add(spec);
    }

    @Override
    public void close() {}
  }
}
