// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static io.kvindex.streams.fixture.LogFeed.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.kvindex.model.topic.Topics;
import io.kvindex.sandbox.broker.EmbeddedBroker;
import io.kvindex.streams.fixture.LogFeed;
import io.kvindex.streams.topology.TablesOfThread;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A transaction that took longer than its time: its coordinator has ended it. */
@Tag("broker")
@Timeout(120)
class TableProducerIT {

  private static final String ID = "table-producer-it";

  @TempDir private Path dir;

  private final AtomicInteger ended = new AtomicInteger();
  private final AtomicInteger torn = new AtomicInteger();

  @Test
  void saysWhatAStreamThreadLivesOnAfter() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("kafka"))) {
      String servers = broker.bootstrapServers();
      new LogFeed(servers, 5).send(1);
      for (boolean sendsBefore : List.of(true, false)) {
        try (TableProducer producer = producer(servers, 500)) {
          producer.initTransactions();
          producer.beginTransaction();
          send(producer);
          awaitAborted(servers);

          Throwable failure =
              catchThrowable(
                  () -> {
                    if (sendsBefore) {
                      send(producer);
                    }
                    producer.commitTransaction();
                  });

          assertThat(failure)
              .isInstanceOfAny(
                  ProducerFencedException.class,
                  InvalidProducerEpochException.class,
                  InvalidPidMappingException.class);
          Throwable again = catchThrowable(producer::abortTransaction);
          if (again != null) {
            assertThat(again)
                .isInstanceOfAny(
                    ProducerFencedException.class, InvalidProducerEpochException.class);
          }
        }
      }
    }
    assertThat(ended).hasPositiveValue();
  }

  /** Kafka Streams gives up all rows of a thread for one task, and may let the others go on. */
  @Test
  void refusesToCommitWhereRowsWereGivenUp() throws Exception {
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("torn"));
        TableProducer producer = producer(broker.bootstrapServers(), 60_000)) {
      new LogFeed(broker.bootstrapServers(), 5).send(1);
      producer.initTransactions();
      producer.beginTransaction();
      sendRow(producer);
      producer.abortTransaction();
      producer.beginTransaction();

      Throwable failure = catchThrowable(() -> sendOffsets(producer));
      assertThat(failure).isExactlyInstanceOf(InvalidProducerEpochException.class);
      assertThat(torn).hasValue(1);

      producer.taskBegins(0);
      send(producer);
      producer.commitTransaction();
      assertThat(torn).hasValue(1);
    }
  }

  @Test
  void tellsTablesUpToWhereTheyAreCommitted() throws Exception {
    List<String> told = new ArrayList<>();
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("committed"));
        TableProducer producer = producer(broker.bootstrapServers(), 60_000)) {
      new LogFeed(broker.bootstrapServers(), 5).send(1);
      TablesOfThread.current()
          .begins(0, (changelog, last) -> told.add(changelog + " " + (last > 0)));
      producer.initTransactions();
      producer.beginTransaction();
      sendRow(producer);
      producer.abortTransaction();
      producer.taskBegins(0);
      producer.beginTransaction();
      producer.commitTransaction();
      assertThat(told).as("nothing it has written is committed").isEmpty();
      producer.beginTransaction();
      send(producer);
      producer.commitTransaction();
      assertThat(told).containsExactly(Topics.EVENTS + "-0 true");
      TablesOfThread.current().ends(0);
      producer.beginTransaction();
      send(producer);
      producer.commitTransaction();
      assertThat(told).as("another thread's by now").hasSize(1);
    }
  }

  private static void send(TableProducer producer) {
    sendRow(producer);
    sendOffsets(producer);
  }

  private static void sendRow(TableProducer producer) {
    producer.send(new ProducerRecord<>(Topics.EVENTS, 0, new byte[] {1}, new byte[] {2}));
  }

  private static void sendOffsets(TableProducer producer) {
    producer.sendOffsetsToTransaction(
        Map.of(new TopicPartition(Topics.EVENTS, 0), new OffsetAndMetadata(1)),
        new ConsumerGroupMetadata(ID));
  }

  private TableProducer producer(String servers, int timeoutMs) {
    return new TableProducer(
        Map.of(
            ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
            servers,
            ProducerConfig.TRANSACTIONAL_ID_CONFIG,
            ID,
            ProducerConfig.TRANSACTION_TIMEOUT_CONFIG,
            timeoutMs),
        ended::incrementAndGet,
        torn::incrementAndGet);
  }

  private static void awaitAborted(String servers) {
    try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, servers))) {
      until(
          () ->
              admin
                      .describeTransactions(List.of(ID))
                      .description(ID)
                      .toCompletionStage()
                      .toCompletableFuture()
                      .join()
                      .state()
                  == TransactionState.COMPLETE_ABORT,
          "the end of the transaction");
    }
  }
}
