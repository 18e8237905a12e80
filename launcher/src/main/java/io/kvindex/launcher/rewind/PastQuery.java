// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import io.kvindex.launcher.terminal.Bars;
import io.kvindex.model.Media;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.topic.TablePartition;
import io.kvindex.query.OfflineQuery;
import io.kvindex.query.lookup.StreamsIndexAccess;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.streams.PastTable;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import me.tongfei.progressbar.ProgressBar;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * What {@code /query} would have said at a moment: reads the records of one table that the log had
 * by then, builds that table, asks it, and throws it away. Writes nothing to Kafka. For one thread.
 */
public final class PastQuery {

  private final Map<String, Object> kafka;
  private final PrintWriter notes;

  /**
   * @param kafka settings of all Kafka clients, see {@link ClientKind}
   * @param notes takes what is not known
   */
  public PastQuery(Map<String, Object> kafka, PrintWriter notes) {
    this.kafka = Map.copyOf(kafka);
    this.notes = notes;
  }

  /**
   * Whose blocks are asked for.
   *
   * @param blockSize 0 = the only one registered for the model
   */
  public record Table(String tenant, String model, int blockSize) {

    private boolean has(EventRecord record) {
      return record.table().tenantId().equals(tenant)
          && record.table().model().equals(model)
          && record.table().blockSize() == blockSize;
    }
  }

  /**
   * Asks.
   *
   * @param body of {@code POST /query}, JSON
   * @throws IllegalStateException if nothing of that time is left
   */
  public OfflineQuery.Answer ask(Instant when, Table named, byte[] body)
      throws InterruptedException {
    LeftOut leftOut = new LeftOut();
    try {
      return ask(when, named, body, leftOut);
    } finally {
      leftOut.tell(notes);
      notes.flush();
    }
  }

  private OfflineQuery.Answer ask(Instant when, Table named, byte[] body, LeftOut leftOut)
      throws InterruptedException {
    PastSources sources = new PastSources(when, leftOut);
    sources.read(kafka);
    Table asked = withBlockSize(named, sources);
    Stretch stretch = stretch(when, asked);
    PastTable table =
        new PastTable(stretch.part().partition(), stretch.partitions(), stretch.part().first());
    fill(new Applied(table, sources, leftOut, asked), stretch);
    return OfflineQuery.ask(
        RegistrationSnapshot.of(sources.all(), Media.standard()),
        new StreamsIndexAccess(table, () -> 0),
        body);
  }

  private static Table withBlockSize(Table named, PastSources sources) {
    if (named.blockSize() != 0) {
      return named;
    }
    List<Integer> sizes = sources.blockSizes(named.tenant(), named.model());
    if (sizes.size() != 1) {
      throw new IllegalArgumentException(
          "--block-size is needed: "
              + (sizes.isEmpty() ? "none is" : sizes + " are")
              + " registered for that tenant and model since before that time");
    }
    return new Table(named.tenant(), named.model(), sizes.get(0));
  }

  /** The records to read: of a partition, up to {@code end}, which is not read. */
  private record Stretch(LogPart part, int partitions, long end) {}

  private Stretch stretch(Instant when, Table asked) throws InterruptedException {
    try (Admin admin = Admin.create(ClientKind.ADMIN.settings(kafka, Map.of()))) {
      EventLog log = new EventLog(admin);
      List<LogPart> parts = log.parts();
      int partition =
          TablePartition.of(asked.tenant(), asked.model(), asked.blockSize(), parts.size());
      LogPart part = parts.get(partition);
      long end = log.from(when.plusMillis(1), parts.size()).getOrDefault(partition, part.end());
      if (part.first() > 0 && end <= part.first()) {
        throw new IllegalStateException(
            "nothing of that time is left in partition "
                + partition
                + " of the events topic: its oldest record "
                + (part.oldest() == null ? "is gone too" : "is of " + part.oldest()));
      }
      if (part.first() > 0) {
        notes.printf(
            "records 0 to %d of partition %d are gone, the oldest left is of %s: what was announced before is"
                + " not in the answer, and whoever goes on from there is degraded%n",
            part.first() - 1, partition, part.oldest());
      }
      return new Stretch(part, parts.size(), end);
    }
  }

  private void fill(Applied applied, Stretch stretch) {
    LogPart part = stretch.part();
    try (ProgressBar bar =
        Bars.of("reading", "records", Math.max(0, stretch.end() - part.first()))) {
      new LogReader(kafka)
          .events(
              part.partition(),
              part.first(),
              stretch.end(),
              new LogReader.Sink() {
                @Override
                public void take(ConsumerRecord<byte[], byte[]> record) {
                  applied.take(record);
                }

                @Override
                public void at(long position) {
                  bar.stepTo(position - part.first());
                }
              });
    }
    notes.printf(
        "%d records of this table, the last of %s, before offset %d of partition %d%n",
        applied.records,
        applied.records == 0 ? "no time" : Instant.ofEpochMilli(applied.lastMs),
        stretch.end(),
        part.partition());
  }

  /** The records of one table. */
  private static final class Applied {
    private final PastTable table;
    private final PastSources sources;
    private final LeftOut leftOut;
    private final Table asked;
    private long records;
    private long lastMs;

    Applied(PastTable table, PastSources sources, LeftOut leftOut, Table asked) {
      this.table = table;
      this.sources = sources;
      this.leftOut = leftOut;
      this.asked = asked;
    }

    void take(ConsumerRecord<byte[], byte[]> record) {
      EventRecord event = leftOut.event(record);
      if (event == null) {
        return;
      }
      if (!asked.has(event)) {
        table.leaveOut(record.timestamp());
        return;
      }
      sources.hear(event);
      table.take(event, record.offset(), record.timestamp());
      records++;
      lastMs = record.timestamp();
    }
  }
}
