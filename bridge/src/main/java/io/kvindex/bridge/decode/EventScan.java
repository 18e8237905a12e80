// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * First pass over an event: checks its structure to the end and notes where each member begins, so
 * that the second pass builds only what is needed, in any order, with the last of repeated keys.
 * One for all events of a batch, reused.
 */
final class EventScan {

  private static final int ABSENT = -1;

  private final EngineDecoder engine;
  private final int[] starts = new int[Field.COUNT];
  private @Nullable EventKind kind;
  private int plainTokens;

  EventScan(EngineDecoder engine) {
    this.engine = engine;
  }

  /** What the scanned event is; only after a scan that found no fault. */
  EventKind kind() {
    if (kind == null) {
      throw new MalformedEvent();
    }
    return kind;
  }

  /** Whether an event left out for that reason may have taken blocks away. */
  boolean mayTakeAway(SkipReason reason) {
    return reason != SkipReason.UNKNOWN_TAG
        && kind != EventKind.STORED
        && kind != EventKind.OBJECT_STORED;
  }

  boolean has(Field field) {
    return starts[field.ordinal()] != ABSENT;
  }

  /** How many ids the event's list of tokens begins with that are integers of 32 bits, unsigned. */
  int plainTokens() {
    return plainTokens;
  }

  /** Position of the member's value. */
  int startOf(Field field) {
    return starts[field.ordinal()];
  }

  /**
   * Steps over one event.
   *
   * @return why it can not be used, null if it may be
   * @throws StructureFault if it is no sound msgpack; the rest of the batch is then lost too
   */
  @Nullable SkipReason scan(MsgPackCursor cursor) {
    return switch (cursor.peek()) {
      case BIN -> scanWrapped(cursor);
      default -> scanPlain(cursor);
    };
  }

  /** An event packed once more into a bin, as llm-d's storage publisher does. */
  private @Nullable SkipReason scanWrapped(MsgPackCursor cursor) {
    int length = cursor.readRawHeader();
    MsgPackCursor inner = cursor.slice(length);
    cursor.seek(cursor.position() + length);
    try {
      SkipReason reason = scanPlain(inner);
      return inner.atEnd() ? reason : SkipReason.MALFORMED;
    } catch (StructureFault e) {
      return SkipReason.MALFORMED; // the bin itself is sound, so only this event is lost
    }
  }

  private @Nullable SkipReason scanPlain(MsgPackCursor cursor) {
    Arrays.fill(starts, ABSENT);
    kind = null;
    return switch (cursor.peek()) {
      case ARRAY -> scanArray(cursor);
      case MAP -> scanMap(cursor);
      default -> {
        cursor.skip();
        yield SkipReason.MALFORMED;
      }
    };
  }

  private @Nullable SkipReason scanArray(MsgPackCursor cursor) {
    int length = cursor.readArrayHeader();
    if (length == 0) {
      return SkipReason.MALFORMED;
    }
    int tag = cursor.position();
    boolean tagged = cursor.peek() == MsgPackType.STR;
    cursor.skip();
    kind = tagged ? tagAt(cursor, tag) : null;
    List<Field> places = kind == null ? List.of() : engine.layout(kind);
    for (int i = 1; i < length; i++) {
      skip(cursor, i <= places.size() ? places.get(i - 1) : null);
    }
    if (kind == null) {
      return tagged ? SkipReason.UNKNOWN_TAG : SkipReason.MALFORMED;
    }
    return length < EngineDecoder.minLength(kind) ? SkipReason.MALFORMED : null;
  }

  private @Nullable SkipReason scanMap(MsgPackCursor cursor) {
    int entries = cursor.readMapHeader();
    for (int i = 0; i < entries; i++) {
      Field field = cursor.readKey(Field.BY_KEY);
      skip(cursor, field);
    }
    Field tag = has(Field.TYPE) ? Field.TYPE : Field.EVENT_TYPE;
    int end = cursor.position();
    if (!has(tag)) {
      return SkipReason.MALFORMED;
    }
    cursor.seek(startOf(tag));
    boolean tagged = cursor.peek() == MsgPackType.STR;
    cursor.seek(end);
    if (!tagged) {
      return SkipReason.MALFORMED;
    }
    kind = tagAt(cursor, startOf(tag));
    return kind == null ? SkipReason.UNKNOWN_TAG : null;
  }

  private void skip(MsgPackCursor cursor, @Nullable Field field) {
    if (field != null) {
      starts[field.ordinal()] = cursor.position();
    }
    if (field == Field.TOKEN_IDS || field == Field.TOKEN_ID) {
      plainTokens = cursor.skipIds();
    } else {
      cursor.skip();
    }
  }

  private @Nullable EventKind tagAt(MsgPackCursor cursor, int tag) {
    int here = cursor.position();
    cursor.seek(tag);
    EventKind found = cursor.readKey(EventKind.BY_TAG);
    cursor.seek(here);
    return found != null && engine.knows(found) ? found : null;
  }
}
