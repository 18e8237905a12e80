// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.member.MemberWatch;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.store.StoreFaults;
import io.kvindex.streams.topology.IndexTopology;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.streams.CloseOptions;
import org.apache.kafka.streams.KafkaStreams;
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

  private final KafkaStreams streams;
  private final int copies;
  private final int partitions;
  private final Replicas replicas;
  private final LogLag lag;
  private final LocalState localState;
  private final RebuiltRows rebuilt;
  private final HangingTransactions transactions;
  private final AbandonedTransactions abandoned;
  private final ChangelogTopic changelog;
  private final ChangelogWatch changelogWatch;
  private final LocalViews views = new LocalViews();
  private final Readiness readiness;
  private final StreamFailures failures;
  private final StoreFaults faults;
  private final Upkeep upkeep;
  private final @Nullable MemberWatch watch;

  private IndexerApp(
      IndexerConfig config, int partitions, ChangelogTopic changelog, MeterRegistry metrics) {
    this.changelog = changelog;
    this.partitions = partitions;
    copies = 1 + config.placement().standbys();
    replicas = new Replicas(config.advertise(), partitions);
    failures = new StreamFailures(config.isNamedBySite(), metrics);
    watch =
        MemberWatch.of(
            config.kafka(),
            config.applicationId(),
            config.placement().name(),
            config.session(),
            Counter.builder("kvindex.members.removed")
                    .description("replicas, dead or standing still, this one had leave the group")
                    .register(metrics)
                ::increment);
    RestoreWatch restores = new RestoreWatch(metrics, this::aheadOfChangelog);
    rebuilt = new RebuiltRows(metrics);
    localState = new LocalState(config.stateDir(), config.applicationId(), rebuilt);
    faults = new StoreFaults(rebuilt::damagedWhileRunning, config.changelog());
    TableClients clients = new TableClients(metrics);
    IndexTopology topology =
        new IndexTopology(
            new Epochs(),
            new IndexMeters(metrics, views.served()),
            config.limits(),
            faults,
            config.changelog(),
            clients::taskBegins,
            new StandbyTurn(
                config.advertise(), partitions, replicas::all, views::isLive, this::keepsUp));
    streams =
        new KafkaStreams(
            topology.get(), StreamsSettings.of(config, changelog.copiesOfEvents()), clients);
    streams.setGlobalStateRestoreListener(restores);
    streams.setStandbyUpdateListener(restores);
    streams.setUncaughtExceptionHandler(failures);
    LogOffsets offsets =
        new LogOffsets(
            Admin.create(ClientKind.ADMIN.settings(config.kafka(), Map.of())),
            config.applicationId());
    lag = new LogLag(config, offsets, partitions, views, restores, this::missedDeletions, metrics);
    readiness = new Readiness(partitions, views, lag, restores, replicas, failures);
    AdminTransactions admin =
        new AdminTransactions(
            Admin.create(ClientKind.ADMIN.settings(config.kafka(), Map.of())),
            config.applicationId(),
            IndexTopology.changelogOf(config.applicationId()));
    transactions = new HangingTransactions(admin, metrics);
    abandoned =
        new AbandonedTransactions(
            admin, config.applicationId(), () -> streams.state() == KafkaStreams.State.REBALANCING);
    changelogWatch = new ChangelogWatch(changelog::identity, this::changelogIsGone);
    upkeep =
        new Upkeep(
            streams, views, replicas, lag, localState, changelog, partitions, this::strangers);
    ReadinessGauges.register(this, metrics);
  }

  /**
   * Starts an indexer; it joins its group in the background.
   *
   * @param unnamed its settings; without a name of the site's own it gets one
   * @param partitions partitions of the events topic
   * @throws IllegalStateException if the local tables can neither be used nor thrown away, or the
   *     changelog is gone and other replicas still run
   */
  public static IndexerApp start(IndexerConfig unnamed, int partitions, MeterRegistry metrics) {
    IndexerConfig config = unnamed.named();
    new RocksLibrary(config.stateDir()).load();
    ChangelogTopic changelog = new ChangelogTopic(config.kafka(), config.applicationId());
    IndexerApp app = new IndexerApp(config, partitions, changelog, metrics);
    boolean identified;
    try {
      LocalIdentity own = changelog.identity();
      if (own == null) {
        LOG.warn("Kafka does not say which cluster it is; local rows are taken for its own");
      }
      if (config.changelog() && own != null && own.changelog().isEmpty()) {
        changelog.forgetPlaceWithoutRows();
      }
      // Made, but not started, Kafka Streams keeps every other process from these rows.
      app.localState.prepare(Instant.now(), own);
      if (config.changelog()) {
        app.localState.discardLeftOpen();
      }
      identified = !config.changelog() || own != null && !own.changelog().isEmpty();
    } catch (RuntimeException e) {
      app.close();
      throw e;
    }
    app.streams.start();
    if (app.watch != null) {
      app.watch.start();
    }
    if (config.changelog()) {
      app.transactions.start();
      app.abandoned.start();
      app.changelogWatch.start();
    }
    app.upkeep.start(identified);
    return app;
  }

  @Override
  public int copies() {
    return copies;
  }

  @Override
  public int partitions() {
    return partitions;
  }

  @Override
  public @Nullable PartitionView view(int partition) {
    return views.served().get(partition);
  }

  /** Why the tables are not kept any more and only a person can help, null = they are kept. */
  public @Nullable String givenUp() {
    return failures.givenUp();
  }

  /** Tells the other replicas that this one is about to go and takes no traffic. */
  public void announceLeaving() {
    readiness.leave();
  }

  @Override
  public @Nullable String notReadyReason() {
    return readiness.notReadyReason();
  }

  @Override
  public @Nullable String notReadyReason(int partition) {
    return readiness.notReadyReason(partition);
  }

  @Override
  public PartitionProgress progress(int partition) {
    return readiness.progress(partition);
  }

  @Override
  public List<String> otherReplicas() {
    return replicas.others();
  }

  @Override
  public @Nullable String address() {
    return replicas.own();
  }

  @Override
  public String cluster() {
    return changelog.cluster();
  }

  @Override
  public Holders allHolders(int partition) {
    return replicas.all(partition);
  }

  @Override
  public Holders holders(int partition) {
    return replicas.holders(partition);
  }

  @Override
  public long recordsBehind(int partition) {
    return lag.records(partition);
  }

  @Override
  public boolean keepsUp(int partition) {
    return lag.keepsUp(partition);
  }

  @Override
  public long ageMs(int partition) {
    return lag.ageMs(partition);
  }

  /** Visible for tests. */
  void missedDeletions(int partition, Duration away) {
    rebuilt.outdatedWhileRunning(partition, away);
    beginAnew(partition);
  }

  private void aheadOfChangelog(int partition, long next, long end) {
    // Found again where Kafka Streams replaces the thread that was about to use them.
    if (faults.outdated(partition)) {
      rebuilt.aheadWhileRunning(partition, next, end);
      views.distrust(partition);
    }
  }

  /** Rows that could not be looked at when it started, as Kafka was silent. */
  private void strangers(String why) {
    rebuilt.strangersWhileRunning(why, views.served().size());
    IntStream.range(0, partitions).forEach(this::beginAnew);
  }

  private void beginAnew(int partition) {
    views.distrust(partition);
    faults.outdated(partition);
  }

  /** What is known goes on being told, as stale; nothing is kept that copies can not follow. */
  private void changelogIsGone(String why) {
    failures.giveUp(why);
    streams.close(Duration.ZERO);
  }

  /** Visible for tests. */
  ChangelogWatch changelogWatch() {
    return changelogWatch;
  }

  @Override
  public void close() {
    upkeep.close();
    changelogWatch.close();
    failures.close();
    lag.close();
    abandoned.close();
    transactions.close();
    streams.close(
        CloseOptions.groupMembershipOperation(CloseOptions.GroupMembershipOperation.LEAVE_GROUP)
            .withTimeout(CLOSE));
    if (watch != null) {
      watch.close();
    }
  }
}
