// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.bridge.decode.EngineEvent.Adapter;
import io.kvindex.model.event.Hashes;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads vLLM's {@code extra_keys}: what a block's hash covers besides its tokens, one entry a
 * block, nil or a list in this order: adapter name, multimodal inputs as (identifier, offset) or
 * bare identifier, the request's salt (first block of a prompt only), digest of prompt embeddings.
 *
 * <p>The adapter is known from elsewhere and left out. The last plain string of a prompt's first
 * block is taken for the salt: a bare multimodal identifier there can not be told from one, and
 * read as a salt it keeps the block apart just as well. All else becomes one hash a block, over the
 * elements' bytes as sent.
 */
final class ExtraKeysReader {

  private static final LongHashFunction HASH = LongHashFunction.xx3();

  private final MsgPackCursor cursor;
  private final Adapter adapter;
  private final boolean atRoot;
  private @Nullable String salt;
  private int saltStart = -1;

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
    return any == 0 ? Hashes.EMPTY : Hashes.wrap(hashes);
  }

  private long readBlock(int block) {
    if (cursor.nextIsNil()) {
      cursor.skip();
      return 0;
    }
    int start = cursor.position();
    int keys = cursor.readArrayHeader();
    if (block == 0 && atRoot) {
      findSalt(keys);
      cursor.seek(start);
      cursor.readArrayHeader();
    }
    long hash = 0;
    boolean any = false;
    for (int i = 0; i < keys; i++) {
      int from = cursor.position();
      boolean known = from == saltStart || (i == 0 && isAdapter());
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

  private void findSalt(int keys) {
    for (int i = 0; i < keys; i++) {
      int from = cursor.position();
      boolean text = cursor.peek() == MsgPackType.STR;
      if (text && !(i == 0 && isAdapter())) {
        cursor.seek(from);
        salt = ValueReader.readText(cursor);
        saltStart = from;
      }
      cursor.seek(from);
      cursor.skip();
    }
  }

  private boolean isAdapter() {
    return switch (cursor.peek()) {
      case STR -> adapter.name() != null && adapter.name().equals(ValueReader.readText(cursor));
      case INT -> adapter.id() != null && adapter.id() == cursor.readLong();
      default -> false;
    };
  }
}
