// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.chaos.Knob;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
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
import org.apache.kafka.common.internals.Topic;
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
 *
 * <p>Where the coordinator decided to commit, and the place in the log has its marker but rows have
 * not, nobody applies those records again: Kafka offers no way to write the marker that is missing.
 * That is said as an error, with what helps.
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
  private record Open(TopicPartition partition, long producerId, int epoch, long start) {

    private List<Long> transaction() {
      return List.of(producerId, (long) epoch);
    }

    /** Whether it is places in the log that are committed there, not rows. */
    private boolean isOfPlaces() {
      return partition.topic().equals(Topic.GROUP_METADATA_TOPIC_NAME);
    }
  }

  private final TransactionsOfApp transactions;
  private final Counter aborted;
  private final Counter rowsLost;
  private final Map<Open, Integer> seen = new HashMap<>();

  /** Transactions whose places in the log hung as well at some look. */
  private final Set<List<Long>> withPlaces = new HashSet<>();

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
  HangingTransactions(TransactionsOfApp transactions, MeterRegistry metrics) {
    this.transactions = transactions;
    aborted =
        Counter.builder("kvindex.transactions.aborted")
            .description("partitions in which a transaction hung that was over, and was ended")
            .register(metrics);
    rowsLost =
        Counter.builder("kvindex.transactions.rows.lost")
            .description("those of them whose rows are in no changelog, and are not applied again")
            .register(metrics);
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
    withPlaces.retainAll(open.keySet().stream().map(Open::transaction).toList());
    open.keySet().stream()
        .filter(Open::isOfPlaces)
        .forEach(places -> withPlaces.add(places.transaction()));
    for (Map.Entry<Open, ProducerState> one : open.entrySet()) {
      if (seen.merge(one.getKey(), 1, Integer::sum) >= LOOKS) {
        boolean committed =
            ours.get(one.getKey().producerId()) == TransactionState.COMPLETE_COMMIT
                && !withPlaces.contains(one.getKey().transaction());
        abort(one.getKey(), one.getValue(), committed);
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

  private void abort(Open hanging, ProducerState state, boolean placeIsCommitted)
      throws InterruptedException, ExecutionException, TimeoutException {
    LOG.warn(
        "transaction of producer={} hangs at offset={} of {} though it is over: aborted{}",
        hanging.producerId(),
        hanging.start(),
        hanging.partition(),
        placeIsCommitted ? "" : ", its records are applied again");
    // A partition that never had a marker of this producer knows no coordinator yet.
    transactions.abort(
        new AbortTransactionSpec(
            hanging.partition(),
            hanging.producerId(),
            (short) hanging.epoch(),
            state.coordinatorEpoch().orElse(0)));
    aborted.increment();
    seen.remove(hanging);
    if (placeIsCommitted) {
      rowsLost.increment();
      LOG.error(
          "rows from offset={} of {} on, of that transaction, are in no changelog, and Kafka has"
              + " committed that their records are applied; docs/operations.md, \"Moving routers to a"
              + " rebuild\", tells how to build the table anew",
          hanging.start(),
          hanging.partition());
    }
  }

  @Override
  public void close() {
    looks.shutdownNow();
    transactions.close();
  }
}
