// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import java.time.Instant;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.streams.KafkaStreams;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks five times a second which tables are here, who else has some and how far all are behind,
 * and writes down what the next start has to know. Start once, close once.
 */
final class Upkeep implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Upkeep.class);
  private static final long EVERY_MS = 200;

  private final KafkaStreams streams;
  private final LocalViews views;
  private final Replicas replicas;
  private final LogLag lag;
  private final LocalState localState;
  private final ChangelogTopic changelog;
  private final int partitions;
  private final Consumer<String> strangers;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "kvindex-views"));

  /** Whether it is written down which changelog the rows are of; for the timer's thread. */
  private boolean identified;

  private long nextIdentifyNs = System.nanoTime();
  private long nextWarningNs = System.nanoTime();

  /**
   * @param strangers told why rows are of another changelog, if they turn out to be
   */
  Upkeep(
      KafkaStreams streams,
      LocalViews views,
      Replicas replicas,
      LogLag lag,
      LocalState localState,
      ChangelogTopic changelog,
      int partitions,
      Consumer<String> strangers) {
    this.streams = streams;
    this.views = views;
    this.replicas = replicas;
    this.lag = lag;
    this.localState = localState;
    this.changelog = changelog;
    this.partitions = partitions;
    this.strangers = strangers;
  }

  /**
   * @param known whether it is written down already which changelog the rows are of
   */
  void start(boolean known) {
    identified = known;
    timer.scheduleWithFixedDelay(this::look, EVERY_MS, EVERY_MS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    try {
      boolean running = streams.state().isRunningOrRebalancing();
      if (running) {
        views.refresh(streams);
        replicas.refresh(streams.metadataForAllStreamsClients());
        views.forgetGone(replicas::isElsewhere, System.nanoTime());
      }
      boolean all = lag.refresh(Instant.now());
      if (running) {
        if (all) {
          // A replica cut off from Kafka misses deletions like one that is down.
          localState.follows(Instant.now());
        }
        identified = identified || identify();
      }
    } catch (IllegalStateException | KafkaException e) {
      // Kafka is silent, or its Streams rebalance. The views known so far stay; they say themselves
      // how far to trust them.
      LOG.debug("views not refreshed", e);
    } catch (RuntimeException e) {
      long nowNs = System.nanoTime();
      if (nowNs - nextWarningNs >= 0) {
        nextWarningNs = nowNs + TimeUnit.MINUTES.toNanos(1);
        LOG.warn("BUG: views are not refreshed, answers grow stale", e);
      }
    }
  }

  /** The very first replica starts before its changelog is made, by what keeps a partition up. */
  private boolean identify() {
    long now = System.nanoTime();
    if (now - nextIdentifyNs < 0 || IntStream.range(0, partitions).noneMatch(views::isLive)) {
      return false;
    }
    nextIdentifyNs = now + TimeUnit.MINUTES.toNanos(1);
    LocalIdentity own = changelog.identity();
    if (own == null || own.changelog().isEmpty()) {
      return false;
    }
    String objection = localState.objection(own);
    if (objection != null) {
      strangers.accept(objection);
      return true;
    }
    return localState.writeOwner(own);
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
