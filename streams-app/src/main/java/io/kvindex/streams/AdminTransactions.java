// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;

/** Asks the cluster; waits 5 s at most for each answer. */
final class AdminTransactions implements TransactionsOfApp, ProducersOfApp {

  private static final long ANSWER_MS = 5_000;
  private static final String OFFSETS = "__consumer_offsets";

  private final Admin admin;
  private final String applicationId;
  private final String changelog;

  /**
   * @param admin closed with this object
   * @param changelog topic of the rows; the group's offsets are the other part of a transaction
   */
  AdminTransactions(Admin admin, String applicationId, String changelog) {
    this.admin = admin;
    this.applicationId = applicationId;
    this.changelog = changelog;
  }

  @Override
  public Map<Long, TransactionState> states()
      throws InterruptedException, ExecutionException, TimeoutException {
    return answer(admin.listTransactions().all()).stream()
        .filter(one -> one.transactionalId().startsWith(applicationId + "-"))
        .collect(
            Collectors.toMap(
                TransactionListing::producerId, TransactionListing::state, (a, b) -> b));
  }

  private Collection<TopicPartition> partitions()
      throws InterruptedException, ExecutionException, TimeoutException {
    Set<String> known =
        new HashSet<>(answer(admin.listTopics(new ListTopicsOptions().listInternal(true)).names()));
    known.retainAll(Set.of(changelog, OFFSETS));
    List<TopicPartition> partitions = new ArrayList<>();
    for (TopicDescription topic : answer(admin.describeTopics(known).allTopicNames()).values()) {
      topic
          .partitions()
          .forEach(one -> partitions.add(new TopicPartition(topic.name(), one.partition())));
    }
    return partitions;
  }

  @Override
  public Map<TopicPartition, List<ProducerState>> producers()
      throws InterruptedException, ExecutionException, TimeoutException {
    Map<TopicPartition, List<ProducerState>> producers = new HashMap<>();
    answer(admin.describeProducers(partitions()).all())
        .forEach((partition, state) -> producers.put(partition, state.activeProducers()));
    return producers;
  }

  @Override
  public void abort(AbortTransactionSpec spec)
      throws InterruptedException, ExecutionException, TimeoutException {
    answer(admin.abortTransaction(spec).all());
  }

  @Override
  public Set<String> ongoing() throws InterruptedException, ExecutionException, TimeoutException {
    ListTransactionsOptions only =
        new ListTransactionsOptions().filterStates(Set.of(TransactionState.ONGOING));
    return answer(admin.listTransactions(only).all()).stream()
        .map(TransactionListing::transactionalId)
        .collect(Collectors.toSet());
  }

  @Override
  public Set<String> members() throws InterruptedException, ExecutionException, TimeoutException {
    return answer(admin.describeConsumerGroups(List.of(applicationId)).all()).values().stream()
        .flatMap(group -> group.members().stream())
        .map(MemberDescription::clientId)
        .collect(Collectors.toSet());
  }

  @Override
  public void fence(Set<String> transactionalIds)
      throws InterruptedException, ExecutionException, TimeoutException {
    answer(admin.fenceProducers(transactionalIds).all());
  }

  private static <T> T answer(KafkaFuture<T> future)
      throws InterruptedException, ExecutionException, TimeoutException {
    return future.get(ANSWER_MS, TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    admin.close(Duration.ofSeconds(1));
  }
}
