// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.bridge.decode.EngineEvent.Adapter;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.hash.CacheSalt;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads vLLM's {@code extra_keys}: what a block's hash covers besides its tokens, one entry a
 * block, nil or a list in this order: adapter name, multimodal inputs as (identifier, offset) or
 * bare identifier, the request's salt (first block of a prompt only), digest of prompt embeddings.
 *
 * <p>The adapter is known from elsewhere and left out. The last plain string of a prompt's first
 * block is taken for the salt: a bare multimodal identifier there can not be told from one, and
 * read as a salt it keeps the block apart just as well. A string with Dynamo's mark is the salt
 * wherever it stands. All else becomes one hash a block, over the elements' bytes as sent.
 *
 * <p>Keys may say what they are, as maps {@code {type: cache_salt, ...}} (vllm#55487) or as the
 * tagged tuples that vLLM hashes since 0.32: {@code [cache_salt, salt]}, {@code [lora, name,
 * path]}. Then nothing is guessed, and {@code legacy} wraps a key of the older form.
 */
final class ExtraKeysReader {

  private static final LongHashFunction HASH = LongHashFunction.xx3();
  private static final String TYPE = "type";

  /** What a key says it is. */
  private enum Kind {
    ADAPTER,
    SALT,
    /** A plain string, which is salt, adapter or something else. */
    BARE,
    OTHER
  }

  private final MsgPackCursor cursor;
  private final Adapter adapter;
  private final boolean atRoot;
  private @Nullable String salt;
  private int saltStart = -1;
  private @Nullable String text;

  /**
   * @param atRoot whether the event's first block opens a prompt
   */
  ExtraKeysReader(MsgPackCursor cursor, Adapter adapter, boolean atRoot) {
    this.cursor = cursor;
    this.adapter = adapter;
    this.atRoot = atRoot;
  }

  /** The salt found by {@link #read}, null = none. */
  @Nullable String salt() {
    return salt;
  }

  /**
   * Reads the list at the cursor.
   *
   * @return one hash a block, 0 = nothing but adapter and salt; empty if that holds for all; null
   *     if the list does not go with the blocks
   */
  @Nullable Hashes read(int blocks) {
    int count = cursor.readArrayHeader();
    long[] hashes = new long[count];
    long any = 0;
    for (int i = 0; i < count; i++) {
      hashes[i] = readBlock(i);
      any |= hashes[i];
    }
    if (count != blocks) {
      return null;
    }
    return any == 0 ? Hashes.EMPTY : Hashes.of(hashes);
  }

  private long readBlock(int block) {
    if (cursor.nextIsNil()) {
      cursor.skip();
      return 0;
    }
    int start = cursor.position();
    int keys = cursor.readArrayHeader();
    if (block == 0) {
      findSalt(keys);
      cursor.seek(start);
      cursor.readArrayHeader();
    }
    long hash = 0;
    boolean any = false;
    for (int i = 0; i < keys; i++) {
      int from = cursor.position();
      boolean known = from == saltStart || isAdapter(i);
      cursor.seek(from);
      cursor.skip();
      if (!known) {
        long own = HASH.hashBytes(cursor.bytes(), from, cursor.position() - from);
        hash = 31 * hash + own;
        any = true;
      }
    }
    return any && hash == 0 ? 1 : hash; // 0 means none
  }

  /** One that says it is the salt, else a marked string, else the last plain one of a root. */
  private void findSalt(int keys) {
    boolean sure = false;
    for (int i = 0; i < keys; i++) {
      int from = cursor.position();
      Kind kind = read();
      String value = text;
      boolean stated =
          kind == Kind.SALT || kind == Kind.BARE && value != null && CacheSalt.isMarked(value);
      boolean guessed = kind == Kind.BARE && atRoot && !sure && !(i == 0 && isName(value));
      if (value != null && (stated || guessed)) {
        salt = value;
        saltStart = from;
        sure |= stated;
      }
      cursor.seek(from);
      cursor.skip();
    }
  }

  private boolean isAdapter(int place) {
    if (place == 0 && cursor.peek() == MsgPackType.INT) {
      return adapter.id() != Adapter.NO_ID && adapter.id() == cursor.readLong();
    }
    Kind kind = read();
    return kind == Kind.ADAPTER && isName(text) || kind == Kind.BARE && place == 0 && isName(text);
  }

  private boolean isName(@Nullable String value) {
    return value != null && value.equals(adapter.name());
  }

  /** What the key at the cursor is; {@link #text} is what it says. Leaves the cursor anywhere. */
  private Kind read() {
    text = null;
    return switch (cursor.peek()) {
      case STR -> {
        text = ValueReader.readText(cursor);
        yield Kind.BARE;
      }
      case ARRAY -> readTagged();
      case MAP -> readTyped();
      default -> Kind.OTHER;
    };
  }

  private Kind readTagged() {
    int length = cursor.readArrayHeader();
    if (length < 2 || cursor.peek() != MsgPackType.STR) {
      return Kind.OTHER;
    }
    Kind kind = kindOf(ValueReader.readText(cursor));
    boolean tuple = length == (kind == Kind.SALT ? 2 : 3);
    if (kind == Kind.OTHER || kind == Kind.BARE || !tuple || cursor.peek() != MsgPackType.STR) {
      return Kind.OTHER; // (identifier, offset) among others
    }
    text = ValueReader.readText(cursor);
    return kind;
  }

  /** The first text beside the type is what it says. */
  private Kind readTyped() {
    Kind kind = Kind.OTHER;
    String value = null;
    for (int left = cursor.readMapHeader(); left > 0; left--) {
      boolean named = cursor.peek() == MsgPackType.STR;
      int key = cursor.position();
      String name = named ? ValueReader.readText(cursor) : null;
      cursor.seek(key);
      cursor.skip();
      int at = cursor.position();
      boolean says = cursor.peek() == MsgPackType.STR;
      if (says && TYPE.equals(name)) {
        kind = kindOf(ValueReader.readText(cursor));
      } else if (says && value == null) {
        value = ValueReader.readText(cursor);
      }
      cursor.seek(at);
      cursor.skip();
    }
    text = value;
    return kind;
  }

  private static Kind kindOf(@Nullable String type) {
    return switch (type == null ? "" : type) {
      case "cache_salt" -> Kind.SALT;
      case "lora" -> Kind.ADAPTER;
      case "legacy" -> Kind.BARE;
      default -> Kind.OTHER;
    };
  }

  /**
   * Reads TensorRT-LLM's {@code mm_keys} at the cursor: of each block the multimodal segments that
   * overlap it, maps of a digest and an offset; a block without any has an empty list. Source:
   * TensorRT-LLM, {@code pyexecutor/kv_cache_events.py}.
   *
   * @return one hash a block, 0 = no segment; empty if no block has any; null if the list does not
   *     go with the blocks
   */
  static @Nullable Hashes readSegments(MsgPackCursor cursor, int blocks) {
    int count = cursor.readArrayHeader();
    long[] hashes = new long[count];
    boolean any = false;
    for (int i = 0; i < count; i++) {
      int from = cursor.position();
      boolean none = cursor.nextIsNil() || cursor.readArrayHeader() == 0;
      cursor.seek(from);
      cursor.skip();
      long hash = none ? 0 : HASH.hashBytes(cursor.bytes(), from, cursor.position() - from);
      hashes[i] = none || hash != 0 ? hash : 1; // 0 means none
      any |= !none;
    }
    if (count != blocks) {
      return null;
    }
    return any ? Hashes.of(hashes) : Hashes.EMPTY;
  }
}
