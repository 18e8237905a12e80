// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.benchmarks.load.LoadOptions;
import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.SourceTraits;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.model.topic.TopicCheck;
import io.kvindex.model.topic.Topics;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Writes events straight to the events topic, as a bridge would: runs of 16 blocks stored or
 * removed, one record each, by eight engines of one or more tables in turn. For one thread.
 *
 * <p>As a program it fills a topic for {@code kvindex replay}. Arguments: bootstrap servers, then
 * {@code --operations} (block operations, default 5,000,000), {@code --resident} (blocks, default
 * 1,000,000), {@code --tables} (default 1), {@code --partitions} where there is no topic yet
 * (default 4). Once so many blocks are resident as many are removed as are stored.
 */
public final class EventTopic implements AutoCloseable {

  /** Blocks of a record. */
  static final int RUN = 16;

  private static final int ENGINES = 8;
  private static final int PERCENT = 100;

  private final KafkaProducer<String, byte[]> producer;
  private final int partitions;
  private final List<TableId> tables;
  private final long[] lastIds;
  private long records;

  /**
   * @param tables how many tables to write to, in turn; one partition has as many as the other
   */
  EventTopic(String bootstrapServers, int partitions, int tables) {
    this.partitions = partitions;
    this.tables = IntStream.range(0, tables).mapToObj(number -> table(number, partitions)).toList();
    lastIds = new long[ENGINES * tables];
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrapServers, "linger.ms", "5"),
            new StringSerializer(),
            new ByteArraySerializer());
  }

  /** One whose name leads to the partition that is its turn. */
  private static TableId table(int number, int partitions) {
    return IntStream.iterate(0, suffix -> suffix + 1)
        .mapToObj(suffix -> new TableId("default", "m" + suffix, RUN, HashProfile.XXH3_DEFAULT))
        .filter(table -> TablePartition.of(table, partitions) == number % partitions)
        .skip(number / partitions)
        .findFirst()
        .orElseThrow();
  }

  /** Creates the topics of a site where they are missing. */
  static void create(String bootstrapServers, int partitions) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers))) {
      new TopicCheck(admin, 10_000)
          .ensure(Topics.all(partitions, (short) 1, Duration.ofDays(1), -1));
    }
  }

  /** Fills a topic. */
  public static void main(String[] arguments) throws Exception {
    LoadOptions options = new LoadOptions(Arrays.copyOfRange(arguments, 1, arguments.length));
    long operations = options.number("operations", 5_000_000);
    long resident = options.number("resident", 1_000_000);
    int tables = options.number("tables", 1);
    int partitions = options.number("partitions", 4);
    options.refuseUnknown();
    create(arguments[0], partitions);
    try (EventTopic topic = new EventTopic(arguments[0], partitions, tables)) {
      long stored = 0;
      long removed = 0;
      long percent = -1;
      while (stored + removed < operations) {
        topic.store(stored);
        stored += RUN;
        if (stored > resident) {
          topic.remove(removed);
          removed += RUN;
        }
        if ((stored + removed) * PERCENT / operations > percent) {
          percent = (stored + removed) * PERCENT / operations;
          System.err.printf("\rfilling the topic: %d %%", percent);
        }
      }
      topic.flush();
      System.err.println();
      System.out.println(topic.records() + " records, " + (stored + removed) + " block operations");
    }
  }

  /** Stores the run of blocks that begins with that number, a multiple of {@link #RUN}. */
  void store(long from) {
    long[] hashes = hashes(from);
    send(
        from,
        new KvEvent.Stored(
            new Place("GPU", 0, 0, null),
            StatedContext.NONE,
            Parent.ROOT,
            Hashes.of(hashes),
            Hashes.of(hashes),
            Hashes.EMPTY));
  }

  /** Removes it. */
  void remove(long from) {
    send(
        from,
        new KvEvent.Removed(new Place("GPU", 0, 0, null), Hashes.of(hashes(from)), Hashes.EMPTY));
  }

  private void send(long from, KvEvent event) {
    int place = (int) (from / RUN % lastIds.length);
    TableId table = tables.get(place / ENGINES);
    StreamId stream = StreamId.of(new PublisherId("engine-" + place, "default", 0));
    long id = ++lastIds[place];
    EventRecord record =
        new EventRecord(
            table,
            stream,
            SourceType.VLLM,
            SourceTraits.of(CopyPolicy.COUNT),
            new Incarnation(1, 1, 0),
            Position.whole(id),
            id == 1 ? null : Long.valueOf(id - 1),
            0,
            List.of(event));
    producer.send(
        new ProducerRecord<>(
            Topics.EVENTS,
            TablePartition.of(table, partitions),
            stream.key(),
            EventRecordCodec.encode(record)));
    records++;
  }

  /** Waits until all is written. */
  void flush() {
    producer.flush();
  }

  /** Records written. */
  long records() {
    return records;
  }

  private static long[] hashes(long from) {
    long[] hashes = new long[RUN];
    Arrays.setAll(hashes, i -> hash(from + i + 1));
    return hashes;
  }

  /** A number that looks random (SplitMix64's finaliser). */
  private static long hash(long i) {
    long z = i * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  @Override
  public void close() {
    producer.close();
  }
}
