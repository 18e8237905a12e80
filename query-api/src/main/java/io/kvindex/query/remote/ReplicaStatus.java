// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.StreamId;
import io.kvindex.model.event.EventRecord.Position;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.model.replica.ReplicaId;
import io.kvindex.query.lookup.StreamsIndexAccess;
import io.kvindex.streams.IndexPartitions;
import io.kvindex.streams.PartitionProgress;
import io.kvindex.streams.PartitionProgress.Phase;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a replica says of itself to the others. Newer versions add to the end, which is passed over:
 *
 * <pre>
 * byte     version, {@value #VERSION} or more
 * string   copy
 * string   version of its program
 * string   why it is not ready, null = it is
 * varint   partitions; of each: number, byte phase, varint done, total and rate, records behind,
 *          zigzag applied offset, varint since
 * varint   partitions told of in detail; of each: its number,
 *          varint streams and their positions, varint publishers and their blocks by medium
 * </pre>
 *
 * @param copy name of the copy of the tables it keeps
 * @param version of its program, for people
 * @param notReady why it takes no traffic, null = it does
 * @param partitions all of them, in order
 * @param details those asked for and here, by number
 */
record ReplicaStatus(
    String copy,
    String version,
    @Nullable String notReady,
    List<Part> partitions,
    Map<Integer, Detail> details) {

  /** Version 1 had no copies; nothing that was released wrote it. */
  static final int VERSION = 2;

  private static final int HAS_LAST = 1;
  private static final int RETELLS = 2;

  /**
   * A partition as a replica has it.
   *
   * @param appliedOffset newest offset of the events topic that is visible, -1 = none
   * @param since see {@link PartitionView#since}
   */
  record Part(
      int partition,
      PartitionProgress progress,
      long recordsBehind,
      long appliedOffset,
      long since) {

    /** Whether it answers, however old that is. */
    boolean hasTable() {
      return switch (progress.phase()) {
        case CATCHING_UP, READY, STALE -> true;
        case ABSENT, BORROWING, LOADING -> false;
      };
    }
  }

  /** What it said of a partition, null = nothing. */
  @Nullable Part part(int partition) {
    for (Part part : partitions) {
      if (part.partition() == partition) {
        return part;
      }
    }
    return null;
  }

  /** What is visible of a partition's publishers. */
  record Detail(
      Map<PublisherId, StreamPosition> positions, Map<PublisherId, Map<String, Long>> blocks) {}

  /**
   * What it is asked for with.
   *
   * @param details partitions to tell of in detail
   */
  static byte[] question(Collection<Integer> details) {
    RecordWriter out = new RecordWriter(64);
    out.writeByte(WalkRequest.VERSION);
    out.writeVarint(details.size());
    details.forEach(out::writeVarint);
    return out.toByteArray();
  }

  /** Reads that back, as far as there are such partitions. */
  static List<Integer> readQuestion(byte[] question, int partitions) {
    RecordReader in = new RecordReader(question);
    WalkRequest.requireVersion(in);
    List<Integer> wanted = new ArrayList<>();
    for (int left = in.readCount(); left > 0; left--) {
      int partition = in.readInt();
      if (partition < partitions) {
        wanted.add(partition);
      }
    }
    return wanted;
  }

  /** This replica's. */
  static ReplicaStatus of(ReplicaId id, IndexPartitions here, Collection<Integer> wanted) {
    List<Part> parts = new ArrayList<>();
    for (int i = 0; i < here.partitions(); i++) {
      PartitionView view = here.view(i);
      long applied = view == null ? -1 : view.appliedOffset();
      long since = view == null ? 0 : view.since();
      parts.add(new Part(i, here.progress(i), here.recordsBehind(i), applied, since));
    }
    Map<Integer, Detail> details = new TreeMap<>();
    for (int partition : wanted) {
      PartitionView view = here.view(partition);
      if (view != null) {
        details.put(partition, detail(view));
      }
    }
    return new ReplicaStatus(
        id.copy(), id.version(), here.notReadyReason(p -> true), parts, details);
  }

  private static Detail detail(PartitionView view) {
    Map<PublisherId, StreamPosition> positions = new HashMap<>();
    view.positions()
        .forEach(
            (stream, position) -> {
              // Nobody waits for one of the many streams of a standard publisher.
              if (stream.equals(StreamId.of(stream.publisher()))) {
                positions.put(stream.publisher(), position);
              }
            });
    Map<PublisherId, Map<String, Long>> blocks = new HashMap<>();
    StreamsIndexAccess.addBlocks(view, blocks);
    return new Detail(positions, blocks);
  }

  byte[] encode() {
    RecordWriter out = new RecordWriter(1 << 10);
    out.writeByte(VERSION);
    out.writeString(copy);
    out.writeString(version);
    out.writeString(notReady);
    out.writeVarint(partitions.size());
    for (Part part : partitions) {
      out.writeVarint(part.partition());
      out.writeByte(part.progress().phase().ordinal());
      out.writeVarint(part.progress().done());
      out.writeVarint(part.progress().total());
      out.writeVarint(part.progress().perSecond());
      out.writeVarint(part.recordsBehind());
      out.writeZigZag(part.appliedOffset());
      out.writeVarint(part.since());
    }
    out.writeVarint(details.size());
    details.forEach(
        (partition, detail) -> {
          out.writeVarint(partition);
          out.writeVarint(detail.positions().size());
          detail.positions().forEach((publisher, position) -> write(publisher, position, out));
          out.writeVarint(detail.blocks().size());
          detail.blocks().forEach((publisher, media) -> write(publisher, media, out));
        });
    return out.toByteArray();
  }

  private static void write(PublisherId publisher, StreamPosition position, RecordWriter out) {
    out.writeString(publisher.key());
    EventRecordCodec.writeIncarnation(out, position.incarnation());
    Position last = position.last();
    out.writeByte((last == null ? 0 : HAS_LAST) | (position.retells() ? RETELLS : 0));
    if (last != null) {
      out.writeLong(last.eventId());
      out.writeVarint(last.part());
      out.writeByte(last.last() ? 1 : 0);
    }
    out.writeZigZag(position.sourceOffset());
    out.writeZigZag(position.sourceTimeMicros());
    out.writeZigZag(position.appendTimeMs());
    out.writeVarint(position.gaps());
  }

  private static void write(PublisherId publisher, Map<String, Long> media, RecordWriter out) {
    out.writeString(publisher.key());
    out.writeVarint(media.size());
    media.forEach(
        (medium, blocks) -> {
          out.writeString(medium);
          out.writeVarint(blocks);
        });
  }

  static ReplicaStatus decode(byte[] bytes) {
    RecordReader in = new RecordReader(bytes);
    int written = in.readByte();
    if (written < VERSION) {
      throw new MalformedRecordException("a status of version " + written);
    }
    String copy = in.readRequiredString();
    String version = in.readRequiredString();
    String notReady = in.readString();
    List<Part> parts = new ArrayList<>();
    for (int left = in.readCount(); left > 0; left--) {
      parts.add(
          new Part(
              in.readInt(),
              new PartitionProgress(
                  readPhase(in), in.readVarint(), in.readVarint(), in.readVarint()),
              in.readVarint(),
              in.readZigZag(),
              in.readVarint()));
    }
    Map<Integer, Detail> details = new TreeMap<>();
    for (int left = in.readCount(); left > 0; left--) {
      details.put(in.readInt(), new Detail(readPositions(in), readBlocks(in)));
    }
    return new ReplicaStatus(copy, version, notReady, parts, details);
  }

  /** One that is not known is none that answers are to be had in for sure. */
  private static Phase readPhase(RecordReader in) {
    int ordinal = in.readByte();
    Phase[] known = Phase.values();
    return ordinal < known.length ? known[ordinal] : Phase.CATCHING_UP;
  }

  private static Map<PublisherId, StreamPosition> readPositions(RecordReader in) {
    Map<PublisherId, StreamPosition> positions = new HashMap<>();
    for (int left = in.readCount(); left > 0; left--) {
      PublisherId publisher = PublisherId.parse(in.readRequiredString());
      Incarnation incarnation = new Incarnation(in.readZigZag(), in.readZigZag(), in.readZigZag());
      int flags = in.readByte();
      Position last =
          (flags & HAS_LAST) == 0
              ? null
              : new Position(in.readLong(), in.readInt(), in.readByte() != 0);
      positions.put(
          publisher,
          new StreamPosition(
              incarnation,
              last,
              in.readZigZag(),
              in.readZigZag(),
              in.readZigZag(),
              in.readVarint(),
              (flags & RETELLS) != 0));
    }
    return positions;
  }

  private static Map<PublisherId, Map<String, Long>> readBlocks(RecordReader in) {
    Map<PublisherId, Map<String, Long>> blocks = new HashMap<>();
    for (int left = in.readCount(); left > 0; left--) {
      PublisherId publisher = PublisherId.parse(in.readRequiredString());
      Map<String, Long> media = new TreeMap<>();
      for (int more = in.readCount(); more > 0; more--) {
        media.put(in.readRequiredString(), in.readVarint());
      }
      blocks.put(publisher, media);
    }
    return blocks;
  }
}
