// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.bridge.decode.EngineBatch.Skipped;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads one payload: {@code [time, events, rank]}, {@code [time, events]} or the map {@code {ts,
 * events, data_parallel_rank}}. What follows in an array and other keys of a map are stepped over.
 * For one payload and one thread.
 */
final class BatchReader {

  private enum Member {
    TIME,
    EVENTS,
    RANK
  }

  private static final NameTable<Member> BY_KEY =
      new NameTable<>(
          java.util.Map.of(
              "ts", Member.TIME,
              "events", Member.EVENTS,
              "data_parallel_rank", Member.RANK,
              "attn_dp_rank", Member.RANK));

  /** A time beyond is in a smaller unit: as seconds it would be after the year 5000. */
  private static final double MAX_SECONDS = 1e11;

  private static final double MICROS_PER_SECOND = 1e6;
  private static final double NEXT_UNIT = 1e3;
  private static final int MAX_INITIAL_CAPACITY = 256;

  private final MsgPackCursor cursor;
  private final boolean ofStore;
  private final EventScan scan;
  private final EventReader reader;
  private final boolean enveloped;
  private final List<EngineEvent> events = new ArrayList<>();
  private final List<Skipped> skipped = new ArrayList<>(0);
  private long timestampMicros;
  private @Nullable Integer rank;

  BatchReader(byte[] payload, EngineDecoder decoder, int blockSize) {
    cursor = new MsgPackCursor(payload, 0, payload.length);
    enveloped = decoder == EngineDecoder.STANDARD;
    ofStore = decoder == EngineDecoder.MOONCAKE;
    scan = new EventScan(decoder);
    reader = new EventReader(cursor, scan, blockSize);
  }

  DecodeResult read() {
    try {
      switch (cursor.peek()) {
        case ARRAY -> readArray();
        case MAP -> readMap();
        default -> {
          cursor.skip();
          throw new StructureFault(RejectReason.NOT_A_BATCH);
        }
      }
      if (!cursor.atEnd()) {
        throw new StructureFault(RejectReason.TRAILING_BYTES);
      }
      return new EngineBatch(timestampMicros, rank, events, skipped);
    } catch (StructureFault e) {
      return new BatchRejected(e.reason());
    }
  }

  private void readArray() {
    int length = cursor.readArrayHeader();
    if (ofStore && length == 1) {
      readEvents();
      return;
    }
    if (length < 2) {
      throw new StructureFault(RejectReason.NOT_A_BATCH);
    }
    readTime();
    readEvents();
    if (length > 2) {
      readRank();
    }
    for (int i = 3; i < length; i++) {
      cursor.skip();
    }
  }

  private void readMap() {
    int entries = cursor.readMapHeader();
    int[] starts = {-1, -1, -1};
    for (int i = 0; i < entries; i++) {
      Member member = cursor.readKey(BY_KEY);
      if (member != null) {
        starts[member.ordinal()] = cursor.position();
      }
      cursor.skip();
    }
    int end = cursor.position();
    boolean timed = starts[Member.TIME.ordinal()] >= 0;
    if (!timed && !ofStore || starts[Member.EVENTS.ordinal()] < 0) {
      throw new StructureFault(RejectReason.NOT_A_BATCH);
    }
    if (timed) {
      cursor.seek(starts[Member.TIME.ordinal()]);
      readTime();
    }
    cursor.seek(starts[Member.EVENTS.ordinal()]);
    readEvents();
    if (starts[Member.RANK.ordinal()] >= 0) {
      cursor.seek(starts[Member.RANK.ordinal()]);
      readRank();
    }
    cursor.seek(end);
  }

  /** What comes next, sound to its end; it is still to be read. */
  private MsgPackType check() {
    MsgPackType type = cursor.peek();
    int start = cursor.position();
    cursor.skip();
    cursor.seek(start);
    return type;
  }

  private void readTime() {
    switch (check()) {
      case INT -> timestampMicros = micros(cursor.readLong());
      case FLOAT -> timestampMicros = micros(cursor.readDouble());
      case NIL -> {
        timestampMicros = 0;
        cursor.skip();
      }
      default -> throw new StructureFault(RejectReason.NOT_A_BATCH);
    }
  }

  /**
   * A time in seconds, or in milli-, micro- or nanoseconds, which its size tells; 0 = unknown,
   * where it is none. It is for information, so none is a reason to refuse what happened.
   */
  private static long micros(double stated) {
    double perSecond = MICROS_PER_SECOND;
    double largest = MAX_SECONDS;
    for (int unit = 0; unit < 4; unit++) {
      if (stated >= 0 && stated <= largest) {
        return Math.round(stated * perSecond);
      }
      largest *= NEXT_UNIT;
      perSecond /= NEXT_UNIT;
    }
    return 0;
  }

  private void readRank() {
    switch (check()) {
      case INT -> {
        long stated = cursor.readUpTo(Integer.MAX_VALUE);
        if (stated < 0) {
          throw new StructureFault(RejectReason.BAD_RANK);
        }
        rank = (int) stated;
      }
      case NIL -> cursor.skip();
      default -> throw new StructureFault(RejectReason.BAD_RANK);
    }
  }

  private void readEvents() {
    if (cursor.peek() != MsgPackType.ARRAY) {
      cursor.skip();
      throw new StructureFault(RejectReason.NOT_A_BATCH);
    }
    int count = cursor.readArrayHeader();
    ((ArrayList<EngineEvent>) events).ensureCapacity(Math.min(count, MAX_INITIAL_CAPACITY));
    for (int i = 0; i < count; i++) {
      readEvent(i);
    }
  }

  private void readEvent(int index) {
    SkipReason reason = scan.scan(cursor);
    int end = cursor.position();
    if (reason == null) {
      try {
        events.add(readOne());
        if (ofStore && timestampMicros == 0 && scan.has(Field.EVENT_TIME)) {
          cursor.seek(scan.startOf(Field.EVENT_TIME));
          readTime();
        }
      } catch (MalformedEvent e) {
        reason = e.reason();
      }
    }
    if (reason != null) {
      skipped.add(new Skipped(index, reason, scan.mayTakeAway(reason)));
    }
    cursor.seek(end);
  }

  private EngineEvent readOne() {
    return enveloped ? reader.readEnveloped() : ofStore ? reader.readOfStore() : reader.read();
  }
}
