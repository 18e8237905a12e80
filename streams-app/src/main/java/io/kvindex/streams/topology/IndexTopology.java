// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.topology;

import io.kvindex.model.topic.Topics;
import io.kvindex.streams.apply.Counts;
import io.kvindex.streams.apply.Limits;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.store.PrefixStoreSupplier;
import io.kvindex.streams.store.SavedRows;
import io.kvindex.streams.store.StoreFaults;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * {@code kvindex.events -> sequence and apply -> prefix-table}, the same for production and tests.
 */
public final class IndexTopology implements Supplier<Topology> {

  /** Name of the store; part of the changelog topic's name. */
  public static final String STORE = storeOf(RowKind.LAYOUT_VERSION);

  /**
   * Rows of each layout have a store and a changelog of their own: there is none yet after an
   * upgrade to another layout, and so the tables are built anew from the log, as where it is gone.
   */
  static String storeOf(int layout) {
    return layout == 1 ? "prefix-table" : "prefix-table-" + layout;
  }

  /** Name of the topic an application's rows are in, as Kafka Streams makes it. */
  public static String changelogOf(String applicationId) {
    return applicationId + "-" + STORE + "-changelog";
  }

  /** How long a replica may be away and still follow the changelog from where it was. */
  public static final Duration TOMBSTONES_KEPT = Duration.ofMinutes(20);

  /** Half of it is a replica's to read up to where the others are. */
  private static final SavedRows.Policy SAVING =
      new SavedRows.Policy(Duration.ofSeconds(15), TOMBSTONES_KEPT.dividedBy(2));

  private static final Map<String, String> CHANGELOG =
      Map.of(
          "cleanup.policy",
          "compact",
          "segment.bytes",
          "67108864",
          "min.cleanable.dirty.ratio",
          "0.6",
          // Every block that goes leaves tombstones: kept for a day, as is usual, a restore would
          // read little else. LocalState sees to it that nobody follows with older rows.
          "delete.retention.ms",
          Long.toString(TOMBSTONES_KEPT.toMillis()));

  private final Epochs epochs;
  private final Counts counts;
  private final Limits limits;
  private final StoreFaults faults;
  private final IntPredicate standbysWait;
  private final boolean changelog;
  private final TaskPlace place;

  /**
   * @param epochs shared by all indexes of the process
   * @param counts takes what became of records
   */
  public IndexTopology(Epochs epochs, Counts counts, Limits limits) {
    this(
        epochs,
        counts,
        limits,
        new StoreFaults(() -> {}),
        true,
        (partition, applied) -> TaskPlace.ANYWHERE,
        partition -> false);
  }

  /**
   * The same that tells of rows thrown away and commits at once where somebody waits for it.
   *
   * @param faults shared by all stores of the process
   * @param changelog whether rows are written to a topic as well
   * @param place where tasks begin to read
   * @param standbysWait whether a partition is to be committed before the interval is over; asked
   *     by stream threads
   */
  public IndexTopology(
      Epochs epochs,
      Counts counts,
      Limits limits,
      StoreFaults faults,
      boolean changelog,
      TaskPlace place,
      IntPredicate standbysWait) {
    this.standbysWait = standbysWait;
    this.place = place;
    this.epochs = epochs;
    this.counts = counts;
    this.limits = limits;
    this.faults = faults;
    this.changelog = changelog;
  }

  @Override
  public Topology get() {
    StreamsBuilder builder = new StreamsBuilder();
    builder.stream(
            Topics.EVENTS,
            Consumed.with(Serdes.String(), Serdes.ByteArray()).withName("read-events"))
        .process(new Processors(), Named.as("index"));
    return builder.build();
  }

  private final class Processors implements ProcessorSupplier<String, byte[], Void, Void> {
    @Override
    public Processor<String, byte[], Void, Void> get() {
      return new IndexProcessor(STORE, counts, limits, faults, place, standbysWait);
    }

    /** Persistent: it is the table. Uncached: a cache would delay the changelog. */
    @Override
    public Set<StoreBuilder<?>> stores() {
      StoreBuilder<KeyValueStore<Bytes, byte[]>> store =
          Stores.keyValueStoreBuilder(
                  new PrefixStoreSupplier(
                      STORE,
                      epochs,
                      faults,
                      !changelog,
                      changelog ? SAVING : SavedRows.Policy.NEVER),
                  Serdes.Bytes(),
                  Serdes.ByteArray())
              .withCachingDisabled();
      return Set.of(changelog ? store.withLoggingEnabled(CHANGELOG) : store.withLoggingDisabled());
    }
  }
}
