// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.model.topic.Topics;
import io.kvindex.query.QueryApi;
import io.kvindex.query.http.HttpSettings;
import io.kvindex.query.lookup.StreamsIndexAccess;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.streams.CopyConfig;
import io.kvindex.streams.IndexCopy;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** New replicas of a log that has forgotten its beginning. */
@Tag("broker")
class BorrowIT {

  private static final long SEED = TestSeed.of(BorrowIT.class);

  @TempDir private Path directory;

  private final CommandRun command = new CommandRun();

  /** A copy with its HTTP API. */
  private final class Process implements AutoCloseable {
    final PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    final IndexCopy copy;
    final QueryApi api;

    Process(AllInOne server, String name, String borrowFrom, List<String> lenders) {
      Map<String, Object> kafka = Map.of("bootstrap.servers", server.bootstrapServers());
      CopyConfig config =
          CopyConfig.of(kafka, name, directory.resolve(name))
              .borrowingFrom(borrowFrom.isEmpty() ? null : borrowFrom);
      copy = IndexCopy.start(config, server.eventPartitions(), true, () -> lenders, metrics);
      StreamsIndexAccess index =
          new StreamsIndexAccess(copy, () -> StreamsIndexAccess.READ_ELSEWHERE);
      api =
          QueryApi.start(
              QueryApi.Options.of(
                  HttpSettings.DEFAULT.at("127.0.0.1", 0), server.bootstrapServers()),
              index,
              metrics);
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(() -> assertThat(copy.notReadyReason()).isNull());
    }

    Api api() {
      return new Api(URI.create("http://127.0.0.1:" + api.port()));
    }

    int borrowed() {
      return (int) metrics.counter("kvindex.borrowed", "result", "borrowed").count();
    }

    @Override
    public void close() {
      api.close();
      copy.close();
    }
  }

  @Test
  @Timeout(240)
  void shouldEqualTheLender_whenTheLogsBeginningIsGone() throws Exception {
    try (LoadedEngines load = new LoadedEngines(3, SEED);
        AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0))) {
      Api lender = new Api(server.uri());
      load.engines().forEach(engine -> lender.register(engine, "default"));
      load.send(300);
      int partition = TablePartition.of("default", Api.MODEL, 16, server.eventPartitions());
      long end = awaitAllFolded(lender, server, partition);
      forgetBefore(server, partition, end - 5);
      TreeSet<String> held = digests(lender);
      assertThat(held).hasSizeGreaterThan(3);

      Path backup = directory.resolve("backup");
      assertThat(
              command.run("backup", "--from", server.uri().toString(), "--to", backup.toString()))
          .isZero();
      assertThat(command.out())
          .contains("kvindex backup: 1 partitions", "records 0 to " + (end - 1));
      assertThat(
              command.run("backup", "--from", server.uri().toString(), "--to", backup.toString()))
          .as("never over another one")
          .isEqualTo(1);

      String address = server.uri().getAuthority();
      try (Process borrower = new Process(server, "borrower", "", List.of("127.0.0.1:1", address));
          Process named = new Process(server, "named", server.uri().toString(), List.of());
          Process restored = new Process(server, "restored", backup.toString(), List.of());
          Process alone = new Process(server, "alone", "", List.of())) {
        for (Process process : List.of(borrower, named, restored)) {
          assertThat(process.borrowed()).isOne();
          assertThat(digests(process.api())).isEqualTo(held);
        }
        assertThat(digests(alone.api())).as("the log alone").isNotEqualTo(held);
        // They go on with the log like the one they have it from.
        load.send(100);
        long now = awaitAllFolded(lender, server, partition);
        TreeSet<String> later = digests(lender);
        for (Process process : List.of(borrower, named, restored)) {
          await()
              .atMost(Duration.ofSeconds(30))
              .until(() -> applied(process.api(), partition) == now - 1);
          assertThat(digests(process.api())).isEqualTo(later).isNotEqualTo(held);
        }
      }
      assertThat(lender.samples("kvindex_lent_total"))
          .containsEntry("{result=\"whole\"}", 3.0)
          .doesNotContainKey("{result=\"aborted\"}");
      assertThat(directory.resolve("index").resolve("lent"))
          .satisfiesAnyOf(
              links -> assertThat(links).doesNotExist(),
              links -> assertThat(links).isEmptyDirectory());
      assertThat(Files.exists(directory.resolve("borrower").resolve("tables"))).isTrue();
    }
  }

  /** What nobody sends any more is in the table; the log's end. */
  private static long awaitAllFolded(Api api, AllInOne server, int partition) throws Exception {
    long[] end = new long[1];
    await()
        .atMost(Duration.ofSeconds(60))
        .pollInterval(Duration.ofMillis(300))
        .until(
            () -> {
              long before = end[0];
              end[0] = end(server, partition);
              return end[0] == before && applied(api, partition) == end[0] - 1;
            });
    return end[0];
  }

  private static long applied(Api api, int partition) {
    for (JsonNode one : api.get("/digests").path("partitions")) {
      if (one.path("partition").asInt() == partition) {
        return one.path("applied_offset").asLong();
      }
    }
    return -1;
  }

  /** What each owner holds, and how far the streams are. */
  private static TreeSet<String> digests(Api api) {
    TreeSet<String> digests = new TreeSet<>();
    for (JsonNode partition : api.get("/digests").path("partitions")) {
      digests.add(partition.path("partition") + " " + partition.path("positions"));
      partition.path("owners").forEach(owner -> digests.add(owner.toString()));
    }
    return digests;
  }

  private static long end(AllInOne server, int partition) throws Exception {
    TopicPartition events = new TopicPartition(Topics.EVENTS, partition);
    try (Admin admin = admin(server)) {
      return admin
          .listOffsets(Map.of(events, OffsetSpec.latest()))
          .partitionResult(events)
          .get()
          .offset();
    }
  }

  private static void forgetBefore(AllInOne server, int partition, long offset) throws Exception {
    TopicPartition events = new TopicPartition(Topics.EVENTS, partition);
    try (Admin admin = admin(server)) {
      admin.deleteRecords(Map.of(events, RecordsToDelete.beforeOffset(offset))).all().get();
    }
  }

  private static Admin admin(AllInOne server) {
    return Admin.create(Map.of("bootstrap.servers", server.bootstrapServers()));
  }
}
