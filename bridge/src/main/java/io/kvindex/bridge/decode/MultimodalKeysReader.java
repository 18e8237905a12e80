// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.model.event.Hashes;
import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads TensorRT-LLM's {@code mm_keys}: of each block the multimodal segments that overlap it, maps
 * of a digest and an offset; a block without any has an empty list. Source: TensorRT-LLM, {@code
 * pyexecutor/kv_cache_events.py}.
 */
final class MultimodalKeysReader {

  private static final LongHashFunction HASH = LongHashFunction.xx3();

  private MultimodalKeysReader() {}

  /**
   * Reads the list at the cursor.
   *
   * @return one hash a block, 0 = no segment; empty if no block has any; null if the list does not
   *     go with the blocks
   */
  static @Nullable Hashes read(MsgPackCursor cursor, int blocks) {
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
