// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.chaos.Knob;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthorizationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends transactions of ours that a partition holds open though their coordinator has long closed
 * them. A broker that is killed between the coordinator's decision and its markers may come back
 * without ever writing them (seen with Kafka 4.3.1, one node, {@code kill -9}): whoever reads
 * committed records, as a restore and the group's offsets do, then waits for ever.
 *
 * <p>Aborting is right: the rows of the last commit and the place in the log they go with are left
 * out together, and the records are applied again. Only what was seen unchanged several times,
 * longer than a transaction may last, is aborted.
 */
final class HangingTransactions implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(HangingTransactions.class);
  private static final long LOOK_EVERY_MS = Knob.TRANSACTION_LOOK_MS.or(8_000);

  /** Looks that have to agree: together longer than the transaction timeout (10 s). */
  private static final int LOOKS = 3;

  private static final Set<TransactionState> OVER =
      Set.of(
          TransactionState.EMPTY,
          TransactionState.COMPLETE_COMMIT,
          TransactionState.COMPLETE_ABORT);

  /** A transaction as a partition sees it. */
  private record Open(TopicPartition partition, long producerId, int epoch, long start) {}

  private final TransactionsOfApp transactions;
  private final Map<Open, Integer> seen = new HashMap<>();

  /** Said once: rights do not come and go. */
  private boolean denied;

  private final ScheduledExecutorService looks =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "kvindex-transactions");
            thread.setDaemon(true);
            return thread;
          });

  /**
   * @param transactions closed with this object
   */
  HangingTransactions(TransactionsOfApp transactions) {
    this.transactions = transactions;
  }

  /** Looks from now on, in the background. */
  void start() {
    looks.scheduleWithFixedDelay(this::lookSafely, 0, LOOK_EVERY_MS, TimeUnit.MILLISECONDS);
  }

  private void lookSafely() {
    try {
      look();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException | RuntimeException e) {
      if (e.getCause() instanceof AuthorizationException && !denied) {
        denied = true;
        LOG.warn(
            "may not look for transactions that hang ({}): if one does, reading stands still behind"
                + " it until somebody ends it; docs/operations.md lists the rights this needs",
            e.getCause().getMessage());
      }
      LOG.debug("transactions not looked at", e);
    }
  }

  /** One look; aborts what has been hanging for long enough. */
  void look() throws InterruptedException, ExecutionException, TimeoutException {
    Map<Long, TransactionState> ours = transactions.states();
    Map<Open, ProducerState> open = new HashMap<>();
    transactions
        .producers()
        .forEach(
            (partition, producers) ->
                producers.stream()
                    .filter(one -> one.currentTransactionStartOffset().isPresent())
                    .filter(
                        one ->
                            OVER.contains(
                                ours.getOrDefault(one.producerId(), TransactionState.UNKNOWN)))
                    .forEach(one -> open.put(of(partition, one), one)));
    seen.keySet().retainAll(open.keySet());
    for (Map.Entry<Open, ProducerState> one : open.entrySet()) {
      if (seen.merge(one.getKey(), 1, Integer::sum) >= LOOKS) {
        abort(one.getKey(), one.getValue());
      }
    }
  }

  private static Open of(TopicPartition partition, ProducerState state) {
    return new Open(
        partition,
        state.producerId(),
        state.producerEpoch(),
        state.currentTransactionStartOffset().orElse(-1));
  }

  private void abort(Open hanging, ProducerState state)
      throws InterruptedException, ExecutionException, TimeoutException {
    LOG.warn(
        "transaction of producer={} hangs at offset={} of {} though it is over: aborted, its records"
            + " are applied again",
        hanging.producerId(),
        hanging.start(),
        hanging.partition());
    // A partition that never had a marker of this producer knows no coordinator yet.
    transactions.abort(
        new AbortTransactionSpec(
            hanging.partition(),
            hanging.producerId(),
            (short) hanging.epoch(),
            state.coordinatorEpoch().orElse(0)));
    seen.remove(hanging);
  }

  @Override
  public void close() {
    looks.shutdownNow();
    transactions.close();
  }
}
