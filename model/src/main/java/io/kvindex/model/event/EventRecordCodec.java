// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.StreamId;
import io.kvindex.model.TableId;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.hash.HashProfile;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Binary form of {@link EventRecord}, version {@value #VERSION}:
 *
 * <pre>
 * version:1 | type:1 copies:1 | traits | tenant model strings, blockSize varint, algorithm:1 seed string
 * | instance tenant strings, rank varint, sub string | generation life clears (zigzag varints)
 * | eventId varint, part varint, flags:1 (1 = last part, 2 = has after) [after varint] | time zigzag varint
 * | event count varint, events
 *
 * traits: persistent media count varint, strings | expiry seconds varint | shards varint
 * </pre>
 *
 * A string is a varint length + 1 and UTF-8 bytes, 0 = null; a hash list a varint count and 8
 * big-endian bytes each. Version 1 has no traits. Stateless; safe for all threads.
 */
public final class EventRecordCodec {

  /** Newest version written; older ones stay readable. */
  public static final byte VERSION = 2;

  private static final int WITHOUT_TRAITS = 1;

  private static final int LAST_PART = 1;
  private static final int HAS_AFTER = 2;

  private EventRecordCodec() {}

  /** The bytes to send. */
  public static byte[] encode(EventRecord record) {
    RecordWriter out = new RecordWriter(256);
    out.writeByte(VERSION);
    out.writeByte(record.type().code());
    writeTraits(out, record.traits());
    writeTable(out, record.table());
    writeStream(out, record.stream());
    writeIncarnation(out, record.incarnation());
    writePosition(out, record.position(), record.after());
    out.writeZigZag(record.sourceTimeMicros());
    out.writeVarint(record.events().size());
    for (KvEvent event : record.events()) {
      event.accept(new KvEventWriter(out));
    }
    return out.toByteArray();
  }

  /**
   * Reads a record back.
   *
   * @throws MalformedRecordException if the bytes are no record, are cut short, or have a newer
   *     version
   */
  public static EventRecord decode(byte[] bytes) {
    RecordReader in = new RecordReader(bytes);
    int version = in.readByte();
    if (version != VERSION && version != WITHOUT_TRAITS) {
      throw new MalformedRecordException(
          "event record version " + version + " is not known here (newest known: " + VERSION + ")");
    }
    return decode(in, () -> readSource(in, version));
  }

  /** Who speaks of which table: the same in all records of a stream, as a rule. */
  record Source(SourceType type, SourceTraits traits, TableId table, StreamId stream) {}

  static Source readSource(RecordReader in, int version) {
    return new Source(
        SourceType.byCode(in.readByte()), readTraits(in, version), readTable(in), readStream(in));
  }

  static EventRecord decode(RecordReader in, Supplier<Source> readsSource) {
    try {
      return decodeRest(in, readsSource.get());
    } catch (IllegalArgumentException e) {
      throw new MalformedRecordException(
          "event record holds an impossible value: " + e.getMessage(), e);
    }
  }

  private static EventRecord decodeRest(RecordReader in, Source source) {
    Incarnation incarnation = new Incarnation(in.readZigZag(), in.readZigZag(), in.readZigZag());
    long eventId = in.readVarint();
    int part = in.readInt();
    int flags = in.readByte();
    Long after = (flags & HAS_AFTER) != 0 ? Long.valueOf(in.readVarint()) : null;
    long time = in.readZigZag();
    List<KvEvent> events = readEvents(in);
    in.requireEnd();
    Position position = new Position(eventId, part, (flags & LAST_PART) != 0);
    return new EventRecord(
        source.table(),
        source.stream(),
        source.type(),
        source.traits(),
        incarnation,
        position,
        after,
        time,
        events);
  }

  /** Most batches have one. */
  private static List<KvEvent> readEvents(RecordReader in) {
    int count = in.readCount();
    if (count == 1) {
      return List.of(KvEventReader.read(in));
    }
    List<KvEvent> events = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      events.add(KvEventReader.read(in));
    }
    return events;
  }

  private static void writeTraits(RecordWriter out, SourceTraits traits) {
    out.writeByte(traits.copies().ordinal());
    out.writeVarint(traits.persistentMedia().size());
    traits.persistentMedia().forEach(out::writeString);
    out.writeVarint(traits.expirySeconds());
    out.writeVarint(traits.shards());
  }

  private static SourceTraits readTraits(RecordReader in, int version) {
    CopyPolicy copies = in.readEnum(CopyPolicy.values());
    if (version == WITHOUT_TRAITS) {
      return SourceTraits.of(copies);
    }
    Set<String> persistent = new TreeSet<>();
    for (int left = in.readCount(); left > 0; left--) {
      persistent.add(in.readRequiredString());
    }
    return new SourceTraits(copies, persistent, in.readInt(), in.readInt());
  }

  /** Writes a table identity; also used in rows of the prefix table. */
  public static void writeTable(RecordWriter out, TableId table) {
    out.writeString(table.tenantId());
    out.writeString(table.model());
    out.writeVarint(table.blockSize());
    out.writeByte(table.hashProfile().algorithm().code());
    out.writeString(table.hashProfile().seed());
  }

  /** Reads what {@link #writeTable} wrote. */
  public static TableId readTable(RecordReader in) {
    String tenant = in.readRequiredString();
    String model = in.readRequiredString();
    int blockSize = in.readInt();
    HashProfile.Algorithm algorithm = HashProfile.Algorithm.byCode(in.readByte());
    return new TableId(
        tenant, model, blockSize, new HashProfile(algorithm, in.readRequiredString()));
  }

  private static void writeStream(RecordWriter out, StreamId stream) {
    out.writeString(stream.publisher().instanceId());
    out.writeString(stream.publisher().tenantId());
    out.writeVarint(stream.publisher().dpRank());
    out.writeString(stream.sub());
  }

  private static StreamId readStream(RecordReader in) {
    PublisherId publisher =
        new PublisherId(in.readRequiredString(), in.readRequiredString(), in.readInt());
    return new StreamId(publisher, in.readRequiredString());
  }

  /** Writes an incarnation; also used in rows of the prefix table. */
  public static void writeIncarnation(RecordWriter out, Incarnation incarnation) {
    out.writeZigZag(incarnation.generation());
    out.writeZigZag(incarnation.life());
    out.writeZigZag(incarnation.clears());
  }

  private static void writePosition(RecordWriter out, Position position, @Nullable Long after) {
    out.writeVarint(position.eventId());
    out.writeVarint(position.part());
    out.writeByte((position.last() ? LAST_PART : 0) | (after != null ? HAS_AFTER : 0));
    if (after != null) {
      out.writeVarint(after);
    }
  }
}
