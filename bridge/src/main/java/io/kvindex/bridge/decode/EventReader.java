// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.bridge.decode.EngineEvent.Adapter;
import io.kvindex.bridge.decode.EngineEvent.CacheScope;
import io.kvindex.bridge.decode.TokenIds.Fit;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.Parent;
import io.kvindex.model.hash.CacheSalt;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Second pass over an event: builds it from the members an {@link EventScan} found. Moves the
 * cursor about; the caller puts it back.
 */
final class EventReader {

  private static final CacheScope NOWHERE =
      new CacheScope(null, CacheScope.NO_GROUP, null, 0, null, null);
  private static final long MAX_INDEX = 0xffff_ffffL;

  private final MsgPackCursor cursor;
  private final EventScan scan;
  private final int registeredSize;

  EventReader(MsgPackCursor cursor, EventScan scan, int registeredSize) {
    this.cursor = cursor;
    this.scan = scan;
    this.registeredSize = registeredSize;
  }

  /**
   * Builds the scanned event.
   *
   * @throws MalformedEvent if a member has an impossible type or value
   */
  EngineEvent read() {
    return switch (scan.kind()) {
      case STORED -> readStored();
      case REMOVED -> readRemoved();
      case CLEARED, STORE_EMPTIED -> new EngineEvent.Cleared(readMediumOfClear());
      case OBJECT_STORED -> new EngineEvent.OfObject(readObject(), readStored());
      case OBJECT_UPDATED ->
          new EngineEvent.OfObject(
              readObject(), new EngineEvent.Removed(NOWHERE, Hashes.EMPTY, Hashes.EMPTY));
    };
  }

  /**
   * Builds the scanned event with the standard's envelope.
   *
   * @throws MalformedEvent also if it has no number
   */
  EngineEvent readEnveloped() {
    long eventId = seek(Field.EVENT_ID) ? cursor.readUpTo(Long.MAX_VALUE) : -1;
    if (eventId < 0) {
      throw new MalformedEvent(); // also one of the top half: everything after it would be late
    }
    Envelope envelope =
        new Envelope(
            eventId,
            text(Field.MODEL_NAME),
            optionalInt(Field.BLOCK_SIZE),
            text(Field.ADDITIONAL_SALT),
            text(Field.LORA_NAME),
            text(Field.TENANT_ID),
            text(Field.BACKEND_ID),
            text(Field.MEDIUM),
            optionalInt(Field.DP_RANK),
            readBaseIndex());
    return new EngineEvent.Enveloped(envelope, read());
  }

  private long readBaseIndex() {
    if (!seek(Field.BASE_BLOCK_IDX) || cursor.nextIsNil()) {
      return -1;
    }
    long index = cursor.readUpTo(MAX_INDEX);
    if (index < 0) {
      throw new MalformedEvent();
    }
    return index;
  }

  /** The same, with what it says of the object, or the tenant, of a store it is about. */
  EngineEvent readOfStore() {
    EngineEvent event = read();
    return event instanceof EngineEvent.OfObject
        ? event
        : new EngineEvent.OfObject(readObject(), event);
  }

  private StoreObject readObject() {
    String key = text(Field.MOONCAKE_KEY);
    return new StoreObject(
        key == null ? text(Field.OBJECT_KEY) : key,
        text(Field.TENANT_ID),
        text(Field.MODEL_NAME),
        text(Field.BACKEND_ID),
        readAddresses());
  }

  /** Whatever else stands in its place: a clear that is not read leaves dead blocks behind. */
  private @Nullable String readMediumOfClear() {
    return seek(Field.MEDIUM) && cursor.peek() == MsgPackType.STR
        ? ValueReader.readText(cursor)
        : null;
  }

  private @Nullable List<String> readAddresses() {
    if (!seek(Field.ADDRESSES) || cursor.nextIsNil()) {
      return null;
    }
    List<String> addresses = new ArrayList<>();
    for (int left = cursor.readArrayHeader(); left > 0; left--) {
      String address = ValueReader.readText(cursor);
      if (address != null) {
        addresses.add(address);
      }
    }
    return addresses;
  }

  private EngineEvent readStored() {
    CacheScope scope = readScope();
    Hashes hashes = readHashes();
    Parent parent = readParent();
    int blockSize = Math.max(optionalInt(Field.BLOCK_SIZE), 0);
    TokenIds tokens =
        seek(Field.TOKEN_IDS) || seek(Field.TOKEN_ID)
            ? TokenIds.read(cursor, scan.plainTokens(), hashes.size(), blockSize, registeredSize)
            : TokenIds.NONE;
    Adapter adapter = readAdapter();
    String salt = readSalt();
    Hashes extra = Hashes.EMPTY;
    if (seek(Field.EXTRA_KEYS) && !cursor.nextIsNil()) {
      ExtraKeysReader keys = new ExtraKeysReader(cursor, adapter, !parent.isNamed());
      Hashes perBlock = keys.read(hashes.size());
      salt = salt == null ? keys.salt() : salt;
      if (perBlock != null) {
        extra = perBlock;
      } else if (tokens.fit() != Fit.NONE) {
        tokens = TokenIds.UNUSABLE; // whose block each key belongs to is anybody's guess
      }
    }
    if (extra.isEmpty() && seek(Field.MM_KEYS) && !cursor.nextIsNil()) {
      Hashes perBlock = ExtraKeysReader.readSegments(cursor, hashes.size());
      if (perBlock != null) {
        extra = perBlock;
      } else if (tokens.fit() != Fit.NONE) {
        tokens = TokenIds.UNUSABLE;
      }
    }
    return new EngineEvent.Stored(
        scope,
        hashes,
        parent,
        tokens,
        blockSize,
        adapter,
        CacheSalt.plain(salt),
        extra,
        readOrigin());
  }

  /** Null where it is not stated, or in words not known here. */
  private @Nullable Origin readOrigin() {
    boolean stated = seek(Field.ORIGIN) && cursor.peek() == MsgPackType.STR;
    String origin = stated ? ValueReader.readText(cursor) : null;
    if (origin == null) {
      return null;
    }
    return switch (origin.toUpperCase(Locale.ROOT)) {
      case "NEW" -> Origin.NEW;
      case "REUSED" -> Origin.REUSED;
      default -> null;
    };
  }

  private EngineEvent readRemoved() {
    CacheScope scope = readScope();
    Hashes hashes = readHashes();
    Hashes copies = Hashes.EMPTY;
    if (seek(Field.REMAINING_COPIES) && !cursor.nextIsNil()) {
      Hashes stated = readCopies();
      copies = stated.size() == hashes.size() ? stated : Hashes.EMPTY;
    }
    return new EngineEvent.Removed(scope, hashes, copies);
  }

  private Hashes readCopies() {
    long[] copies = new long[cursor.readArrayHeader()];
    for (int i = 0; i < copies.length; i++) {
      copies[i] = ValueReader.readInt(cursor);
    }
    return Hashes.of(copies);
  }

  private CacheScope readScope() {
    String medium = text(Field.MEDIUM);
    int stated = optionalInt(Field.GROUP);
    int group = stated < 0 ? optionalInt(Field.LAYER_GROUP) : stated;
    String kind =
        seek(Field.SPEC_KIND) ? ValueReader.readText(cursor, ValueReader.MAX_KIND_BYTES) : null;
    int window = Math.max(optionalInt(Field.SLIDING_WINDOW), 0);
    String locality = text(Field.LOCALITY);
    String ownership = text(Field.OWNERSHIP);
    boolean none = medium == null && group < 0 && kind == null && window == 0;
    return none && locality == null && ownership == null
        ? NOWHERE
        : new CacheScope(medium, group, kind, window, locality, ownership);
  }

  private Hashes readHashes() {
    if (!seek(Field.SEQ_HASHES) && !seek(Field.BLOCK_HASHES)) {
      if (seek(Field.BLOCK_HASH) && !cursor.nextIsNil()) {
        return Hashes.of(ValueReader.readHash(cursor));
      } else if (scan.has(Field.OBJECT_KEY) || scan.has(Field.MOONCAKE_KEY)) {
        return Hashes.EMPTY; // they stand in the key
      }
      throw new MalformedEvent();
    }
    return ValueReader.readHashes(cursor);
  }

  private Parent readParent() {
    boolean has = seek(Field.PARENT_HASH) || seek(Field.PARENT_BLOCK_HASH);
    return !has || cursor.nextIsNil() ? Parent.UNKNOWN : Parent.of(ValueReader.readHash(cursor));
  }

  private Adapter readAdapter() {
    boolean numbered = seek(Field.LORA_ID) && !cursor.nextIsNil();
    long id = numbered ? cursor.readLong() : Adapter.NO_ID;
    String name = text(Field.LORA_NAME);
    if (seek(Field.LORA_NAME_OR_METADATA) && cursor.peek() == MsgPackType.STR) {
      name = ValueReader.readText(cursor);
    }
    return id == Adapter.NO_ID && name == null ? Adapter.NONE : new Adapter(id, name);
  }

  /** From a member of its own, or from the metadata map of positional events. */
  private @Nullable String readSalt() {
    String salt = text(Field.CACHE_SALT);
    if (!seek(Field.LORA_NAME_OR_METADATA) || cursor.peek() != MsgPackType.MAP) {
      return salt;
    }
    int entries = cursor.readMapHeader();
    for (int i = 0; i < entries; i++) {
      Field field = cursor.readKey(Field.BY_KEY);
      int value = cursor.position();
      if (field == Field.CACHE_SALT) {
        salt = ValueReader.readText(cursor);
      }
      cursor.seek(value);
      cursor.skip();
    }
    return salt;
  }

  private @Nullable String text(Field field) {
    return seek(field) ? ValueReader.readText(cursor) : null;
  }

  /** A member from 0 up, -1 = not stated. */
  private int optionalInt(Field field) {
    return seek(field) ? ValueReader.readOptionalInt(cursor) : -1;
  }

  private boolean seek(Field field) {
    if (!scan.has(field)) {
      return false;
    }
    cursor.seek(scan.startOf(field));
    return true;
  }
}
