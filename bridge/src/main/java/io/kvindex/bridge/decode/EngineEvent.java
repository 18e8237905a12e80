// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.Parent;
import org.jspecify.annotations.Nullable;

/** An event as an engine said it, its wire form taken away and nothing added. Immutable. */
public sealed interface EngineEvent
    permits EngineEvent.Stored,
        EngineEvent.Removed,
        EngineEvent.Cleared,
        EngineEvent.Enveloped,
        EngineEvent.OfObject {

  /**
   * Blocks were committed.
   *
   * @param scope which cache of the engine
   * @param hashes the engine's names for the blocks, in order; may be empty
   * @param parent the block before the first one as the engine names it, {@link Parent#UNKNOWN} if
   *     it names none; what that means is decided where events are normalised
   * @param tokens tokens of all blocks, flat
   * @param blockSize tokens a block, 0 = not stated
   * @param adapter LoRA adapter the blocks belong to
   * @param salt request salt, null = none: SGLang's {@code cache_salt}, or vLLM's extra key of a
   *     prompt's first block; without the marker Dynamo puts before it
   * @param extraHashes per block the hash of its other extra keys (multimodal input, prompt
   *     embeddings), 0 = none; empty = no block has any
   * @param origin whether the cache has one copy more of each block now, null = not stated
   */
  record Stored(
      CacheScope scope,
      Hashes hashes,
      Parent parent,
      TokenIds tokens,
      int blockSize,
      Adapter adapter,
      @Nullable String salt,
      Hashes extraHashes,
      @Nullable Origin origin)
      implements EngineEvent {}

  /**
   * Blocks were evicted.
   *
   * @param scope which cache of the engine; removals never state the kind of a group
   * @param hashes the engine's names for the blocks
   * @param remainingCopies copies left per hash, empty where the engine does not say
   */
  record Removed(CacheScope scope, Hashes hashes, Hashes remainingCopies) implements EngineEvent {}

  /**
   * The cache was emptied.
   *
   * @param medium the medium it is limited to, null = as the engine's kind implies
   */
  record Cleared(@Nullable String medium) implements EngineEvent {}

  /**
   * An event with all that the standard's envelope says of it.
   *
   * @param envelope who, where and in which order
   * @param event what happened; never one with an envelope itself
   */
  record Enveloped(Envelope envelope, EngineEvent event) implements EngineEvent {}

  /**
   * An event about one object of a store, or a clear of one tenant of it. Where {@code object}
   * lists addresses they tell where the object is from now on: none = nowhere any more.
   *
   * @param object which one
   * @param event what happened; its hashes may be empty, as they often only stand in the key
   */
  record OfObject(StoreObject object, EngineEvent event) implements EngineEvent {}

  /**
   * A LoRA adapter as named by an engine.
   *
   * @param id its number, -1 = none: not stated, or an engine's way to say so
   * @param name its name, null = none stated
   */
  record Adapter(long id, @Nullable String name) {
    /** No number. */
    public static final long NO_ID = -1;

    /** The base model, or a version that does not say. */
    public static final Adapter NONE = new Adapter(NO_ID, null);
  }

  /**
   * Which cache of the engine an event speaks of.
   *
   * @param medium storage medium as sent, null = not stated
   * @param group attention group from 0 up, {@link #NO_GROUP} = not stated
   * @param specKind kind of that group's layers, null = not stated
   * @param slidingWindow its window in tokens, 0 = none
   * @param locality {@code LOCAL} or {@code REMOTE}, null = not stated
   * @param ownership secondary tier that holds the blocks, null = not stated
   */
  record CacheScope(
      @Nullable String medium,
      int group,
      @Nullable String specKind,
      int slidingWindow,
      @Nullable String locality,
      @Nullable String ownership) {
    /** No attention group is stated. */
    public static final int NO_GROUP = -1;

    /** Whether it names its attention group. */
    public boolean hasGroup() {
      return group != NO_GROUP;
    }
  }
}
