// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** One KV-cache event before encoding. */
public sealed interface EngineEvent {
  /** Blocks became available in a tier. */
  record Stored(Medium medium, List<Block> blocks, Origin origin) implements EngineEvent {
    public Stored {
      blocks = List.copyOf(blocks);
      if (blocks.isEmpty()) {
        throw new IllegalArgumentException("a stored event names at least one block");
      }
    }
  }

  /** One physical copy of a block left a tier. */
  record Removed(Medium medium, long hash) implements EngineEvent {}

  /** The prefix cache was reset. */
  record Cleared() implements EngineEvent {}

  /**
   * A block as a stored event describes it.
   *
   * @param hash the 64 bits on the wire
   * @param tokens token ids of exactly this block; empty = not said. Kept, not copied.
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Block(long hash, int[] tokens) {}

  /**
   * Where a run of blocks belongs.
   *
   * @param parent wire hash of the block before the run, null = none, or not said
   * @param first whether the run begins at the start of the prompt
   * @param blockSize tokens in a block; 0 = a placeholder that only names hashes
   * @param loraId the engine's number for the adapter, null = none
   * @param lora the adapter's name, null = none
   * @param salt the request's cache salt, null = none
   */
  record Origin(
      @Nullable Long parent,
      boolean first,
      int blockSize,
      @Nullable Integer loraId,
      @Nullable String lora,
      @Nullable String salt) {

    /** vLLM's offloading placeholder: the blocks changed tier, nothing else is said. */
    public static Origin placeholder() {
      return new Origin(null, false, 0, null, null, null);
    }
  }
}
