// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.TopicPartition;

/** The transactions of an application: as their coordinator and as their partitions see them. */
interface TransactionsOfApp extends AutoCloseable {

  /** What the coordinator says, by producer. */
  Map<Long, TransactionState> states()
      throws InterruptedException, ExecutionException, TimeoutException;

  /** Who writes, or wrote, to each partition that takes part. */
  Map<TopicPartition, ? extends Collection<ProducerState>> producers()
      throws InterruptedException, ExecutionException, TimeoutException;

  /** Writes the marker of an aborted transaction to a partition. */
  void abort(AbortTransactionSpec spec)
      throws InterruptedException, ExecutionException, TimeoutException;

  @Override
  void close();
}
