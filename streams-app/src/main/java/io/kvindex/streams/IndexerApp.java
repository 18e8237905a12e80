// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.table.TableView;
import io.kvindex.streams.topology.IndexTopology;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.PartitionView.State;
import io.kvindex.streams.view.ReadViewQuery;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.query.StateQueryRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the tables: reads the events topic, folds it into rows and index, hands out read views. Its
 * topics must exist. Start once, close once; the other methods may be called by any thread and
 * never wait.
 */
public final class IndexerApp implements IndexPartitions, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(IndexerApp.class);
  private static final Duration CLOSE = Duration.ofSeconds(15);
  private static final long REFRESH_MS = 200;

  /** The last offset of a changelog is its last transaction's marker, which is no row. */
  private static final long COMMIT_MARKER = 1;

  private final KafkaStreams streams;
  private final int partitions;
  private final LogLag lag;
  private final LocalState localState;
  private final HangingTransactions transactions;
  private final Map<Integer, PartitionView> views = new ConcurrentHashMap<>();
  private final Map<Integer, Long> standbyGoals = new ConcurrentHashMap<>();
  private final ScheduledExecutorService refresher =
      Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "kvindex-views"));

  private IndexerApp(IndexerConfig config, int partitions, MeterRegistry metrics) {
    this.partitions = partitions;
    IndexTopology topology =
        new IndexTopology(new Epochs(), new IndexMeters(metrics, views), config.limits());
    streams = new KafkaStreams(topology.get(), config.streamsProperties());
    localState = new LocalState(config.stateDir(), config.applicationId());
    lag = new LogLag(config, partitions, views, metrics);
    transactions =
        new HangingTransactions(
            new AdminTransactions(
                Admin.create(new HashMap<>(config.kafka())),
                config.applicationId(),
                config.applicationId() + "-" + IndexTopology.STORE + "-changelog"));
    streams.setUncaughtExceptionHandler(
        exception -> {
          LOG.error("stream thread failed, another takes its place", exception);
          return StreamThreadExceptionResponse.REPLACE_THREAD;
        });
  }

  /**
   * Starts an indexer; it joins its group in the background.
   *
   * @param partitions partitions of the events topic
   */
  public static IndexerApp start(IndexerConfig config, int partitions, MeterRegistry metrics) {
    IndexerApp app = new IndexerApp(config, partitions, metrics);
    if (app.localState.isTooOld(Instant.now())) {
      app.streams.cleanUp();
    }
    app.streams.start();
    app.transactions.start();
    app.refresher.scheduleWithFixedDelay(
        app::refresh, REFRESH_MS, REFRESH_MS, TimeUnit.MILLISECONDS);
    return app;
  }

  @Override
  public int partitions() {
    return partitions;
  }

  @Override
  public @Nullable PartitionView view(int partition) {
    return views.get(partition);
  }

  @Override
  public @Nullable String notReadyReason() {
    for (int partition = 0; partition < partitions; partition++) {
      PartitionView view = views.get(partition);
      if (view == null || !view.complete()) {
        return "partition " + partition + " is " + (view == null ? "not here yet" : view.state());
      }
    }
    return lag.tooFarBehind();
  }

  /** Records of a partition that are in the log and not applied here, 0 = none known. */
  public long recordsBehind(int partition) {
    return lag.records(partition);
  }

  @Override
  public boolean keepsUp(int partition) {
    return lag.keepsUp(partition);
  }

  private void refresh() {
    try {
      boolean running = streams.state().isRunningOrRebalancing();
      if (running) {
        Map<Integer, QueryResult<PartitionView>> results =
            streams
                .query(StateQueryRequest.inStore(IndexTopology.STORE).withQuery(ReadViewQuery.LOOK))
                .getPartitionResults();
        results.forEach(
            (partition, result) -> {
              if (result.isSuccess()) {
                views.put(partition, result.getResult());
              }
            });
        markStandbys();
      }
      lag.refresh();
      if (running) {
        // Kafka answered: a replica cut off from it misses deletions like one that is down.
        localState.follows(Instant.now());
      }
    } catch (RuntimeException e) {
      // The views known so far stay; they say themselves how far to trust them.
      LOG.debug("views not refreshed", e);
    }
  }

  /**
   * A standby is not told when it has read the changelog to its end: compare offsets until then.
   */
  private void markStandbys() {
    if (views.values().stream().noneMatch(IndexerApp::isCatchingUp)) {
      return;
    }
    streams
        .allLocalStorePartitionLags()
        .getOrDefault(IndexTopology.STORE, Map.of())
        .forEach(
            (partition, lagInfo) -> {
              // The end it had when first asked for: a log that grows on must not keep it waiting.
              long goal = standbyGoals.computeIfAbsent(partition, p -> lagInfo.endOffsetPosition());
              PartitionView view = views.get(partition);
              LOG.debug(
                  "standby partition={} at={} goal={}",
                  partition,
                  lagInfo.currentOffsetPosition(),
                  goal);
              if (view instanceof TableView table
                  && lagInfo.currentOffsetPosition() + COMMIT_MARKER >= goal) {
                load(partition);
                table.caughtUp();
              }
            });
  }

  private static boolean isCatchingUp(PartitionView view) {
    return view.state() == State.LOADING || view.state() == State.RESTORING;
  }

  /** Its rows are all there: an index not begun yet is built now. */
  private void load(int partition) {
    streams.query(
        StateQueryRequest.inStore(IndexTopology.STORE)
            .withQuery(ReadViewQuery.LOAD)
            .withPartitions(Set.of(partition)));
  }

  @Override
  public void close() {
    refresher.shutdownNow();
    lag.close();
    transactions.close();
    streams.close(
        CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
            .withTimeout(CLOSE));
  }
}
