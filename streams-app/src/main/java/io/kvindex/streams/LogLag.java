// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.model.topic.Topics;
import io.kvindex.streams.topology.IndexTopology;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far the tables are behind the log: its end against what this process has taken, or, for
 * partitions of others, what was committed. Refreshed by one thread, read by any.
 */
final class LogLag implements Readiness.Lag, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(LogLag.class);

  private final Offsets offsets;
  private final String changelog;
  private final int partitions;
  private final LocalViews views;
  private final RestoreWatch restores;
  private final List<PartitionBacklog> backlogs;
  private final MissedDeletions deletions;

  /**
   * Partitions last looked at when nothing that is answered from was here: by what others have
   * committed, or by rows that were still restored and may be thrown away for others.
   */
  private final Set<Integer> byOthersWord = ConcurrentHashMap.newKeySet();

  /** The first record not applied as it was at the last look, by partition. */
  private final Map<Integer, Long> lookedAt = new HashMap<>();

  /** Where what has expired ends, as it was last told, by partition. */
  private final Map<Integer, Long> told = new HashMap<>();

  /** What Kafka says; for one thread, and never waited for for long. */
  interface Offsets extends AutoCloseable {

    /** Where partitions end; those Kafka does not tell of are left out. */
    Map<TopicPartition, Long> ends(Collection<TopicPartition> of);

    /** What the application has committed, null = Kafka never said anything. */
    @Nullable Map<TopicPartition, OffsetAndMetadata> committed();

    /**
     * Where a partition begins.
     *
     * @throws IllegalStateException if Kafka does not say
     */
    long start(TopicPartition of);

    /**
     * Looks a time up.
     *
     * @return offset of the first record that is not older, or the end if there is none
     * @throws IllegalStateException if Kafka does not say
     */
    long firstSince(TopicPartition of, Instant time);

    @Override
    void close();
  }

  /**
   * @param offsets closed with this object
   */
  LogLag(
      IndexerConfig config,
      Offsets offsets,
      int partitions,
      LocalViews views,
      RestoreWatch restores,
      BiConsumer<Integer, Duration> missedDeletions,
      MeterRegistry metrics) {
    this.offsets = offsets;
    this.partitions = partitions;
    this.views = views;
    this.restores = restores;
    this.changelog = IndexTopology.changelogOf(config.applicationId());
    this.deletions =
        new MissedDeletions(
            (partition, time) -> offsets.firstSince(rows(partition), time), missedDeletions);
    this.backlogs =
        Stream.generate(() -> new PartitionBacklog(config.tolerance().maxLag()))
            .limit(partitions)
            .toList();
    for (int i = 0; i < partitions; i++) {
      int partition = i;
      Gauge.builder("kvindex.kafka.lag", () -> records(partition))
          .tag("partition", Integer.toString(i))
          .description("records of the events topic not applied yet")
          .register(metrics);
    }
  }

  long records(int partition) {
    return Math.max(0, backlogs.get(partition).records());
  }

  @Override
  public boolean keepsUp(int partition) {
    return isMeasured(partition) && backlogs.get(partition).keepsUp(System.nanoTime());
  }

  /** Not from when it is here until it was looked at: others' word says nothing of its rows. */
  private boolean isMeasured(int partition) {
    return !byOthersWord.contains(partition) || !views.served().containsKey(partition);
  }

  @Override
  public boolean caughtUp(int partition) {
    return backlogs.get(partition).caughtUp();
  }

  /** How long what is not applied may have waited, 0 = nothing waits as far as is known. */
  long ageMs(int partition) {
    return TimeUnit.NANOSECONDS.toMillis(backlogs.get(partition).ageNanos(System.nanoTime()));
  }

  /** Records applied, of those seen in the log since the first look. */
  @Override
  public PartitionProgress progress(int partition) {
    PartitionBacklog backlog = backlogs.get(partition);
    return new PartitionProgress(
        PartitionProgress.Phase.CATCHING_UP, backlog.done(), backlog.total(), 0);
  }

  /**
   * Why a partition keeps this replica from being ready, null = it does not. What was visible
   * before a restart must be visible again first; later some lag is no reason to send routers away.
   */
  @Override
  public @Nullable String tooFarBehind(int partition) {
    PartitionBacklog backlog = backlogs.get(partition);
    long records = backlog.records();
    boolean unknown = records == PartitionBacklog.UNKNOWN || !isMeasured(partition);
    return unknown || !backlog.wasClose()
        ? "partition "
            + partition
            + " is "
            + (unknown ? "not measured yet" : records + " records behind")
        : null;
  }

  /**
   * Looks at the log. What Kafka does not say of a partition leaves what is known of it as it is,
   * to grow old by itself.
   *
   * @param now the wall clock
   * @return whether Kafka answered for all of them
   * @throws IllegalStateException if it answered for none
   */
  boolean refresh(Instant now) {
    // First what is committed: the ends asked for later are sure to have the rows it goes with.
    Map<TopicPartition, OffsetAndMetadata> committed = offsets.committed();
    Set<TopicPartition> wanted = new HashSet<>();
    for (int i = 0; i < partitions; i++) {
      wanted.add(events(i));
      RestoreWatch.Reading reading = restores.reading(i);
      if (reading != null && reading.standby()) {
        wanted.add(rows(i));
      }
    }
    long askedNanos = System.nanoTime();
    Map<TopicPartition, Long> ends = offsets.ends(wanted);
    boolean all = ends.size() == wanted.size();
    for (int i = 0; i < partitions; i++) {
      try {
        // Before lag is noted: rows that lack deletions must not count as kept up.
        lookForMissed(i, ends, now);
        note(i, committed, ends, askedNanos);
      } catch (IllegalStateException e) {
        all = false;
        LOG.debug("partition={} is not looked at", i, e);
      }
    }
    if (ends.isEmpty()) {
      throw new IllegalStateException("lag not measured: Kafka does not answer");
    }
    return all;
  }

  private void note(
      int partition,
      @Nullable Map<TopicPartition, OffsetAndMetadata> committed,
      Map<TopicPartition, Long> ends,
      long askedNanos) {
    Long end = ends.get(events(partition));
    if (end == null) {
      return;
    }
    PartitionView view = views.served().get(partition);
    boolean answers = view != null && view.complete();
    if (!answers) {
      byOthersWord.add(partition);
    }
    Long first = firstUnapplied(partition, view, end, committed);
    if (first != null) {
      boolean stands = first < end && first.equals(lookedAt.put(partition, first));
      backlogs
          .get(partition)
          .note(end, stands ? stillThere(partition, first, committed) : first, askedNanos);
      if (answers) {
        byOthersWord.remove(partition);
      }
    }
  }

  /**
   * What retention took never comes, and what was committed was dealt with: most likely nothing
   * came of it. But where nobody had read it, its being gone is no reason to be calm.
   */
  private long stillThere(
      int partition, long first, @Nullable Map<TopicPartition, OffsetAndMetadata> committed) {
    OffsetAndMetadata done = committed == null ? null : committed.get(events(partition));
    if (done == null || done.offset() <= first) {
      return first;
    }
    long there = Math.min(done.offset(), offsets.start(events(partition)));
    if (there > first && !Objects.equals(told.put(partition, there), there)) {
      LOG.warn(
          "records {} to {} of partition {} have expired, and its rows have nothing of them: taken"
              + " as dealt with, since they were committed",
          first,
          there - 1,
          partition);
    }
    return Math.max(first, there);
  }

  private static TopicPartition events(int partition) {
    return new TopicPartition(Topics.EVENTS, partition);
  }

  private TopicPartition rows(int partition) {
    return new TopicPartition(changelog, partition);
  }

  private void lookForMissed(int partition, Map<TopicPartition, Long> ends, Instant now) {
    RestoreWatch.Reading reading = restores.reading(partition);
    Long rowsEnd = ends.get(rows(partition));
    if (reading != null && reading.standby()) {
      deletions.reached(partition, reading.position(), now);
      if (rowsEnd != null) {
        deletions.ofCopy(partition, reading.position(), rowsEnd, now);
      }
    } else if (reading == null && !ends.isEmpty()) {
      deletions.ofOther(partition, now);
    }
  }

  /** The first record of the log that the answers given here do not have, null = not known. */
  private @Nullable Long firstUnapplied(
      int partition,
      @Nullable PartitionView view,
      long end,
      @Nullable Map<TopicPartition, OffsetAndMetadata> committed) {
    RestoreWatch.Reading reading = restores.reading(partition);
    if (view != null && FirstUnapplied.isOwners(view, reading)) {
      return view.takenOffset() + 1;
    }
    if (committed == null) {
      return null;
    }
    OffsetAndMetadata done = committed.get(events(partition));
    if (done == null) {
      // There is no row of anybody, but for those of the owner's first transaction.
      return end == 0 ? end : offsets.start(events(partition));
    }
    return view == null ? done.offset() : FirstUnapplied.of(view, reading, done.offset());
  }

  @Override
  public void close() {
    offsets.close();
  }
}
