// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

/**
 * What happened to a publisher's cache, in the normal form all engines are brought to. Part of an
 * {@link EventRecord}, which says who, which life and when.
 */
public sealed interface KvEvent
    permits KvEvent.Stored,
        KvEvent.Removed,
        KvEvent.Cleared,
        KvEvent.Gap,
        KvEvent.Retired,
        KvEvent.Begun,
        KvEvent.Retold,
        KvEvent.Taught {

  /**
   * Dispatches to the method for this kind; a new kind does not compile until every visitor knows
   * it.
   */
  void accept(Visitor visitor);

  /** One method per kind of event. */
  interface Visitor {
    /** Blocks were committed. */
    void stored(Stored event);

    /** Blocks were evicted. */
    void removed(Removed event);

    /** A whole scope was emptied. */
    void cleared(Cleared event);

    /** Events are missing. */
    void gap(Gap event);

    /** The publisher is gone for good. */
    void retired(Retired event);

    /** A new life began. */
    void begun(Begun event);

    /** What the life was to tell again is told. */
    void retold(Retold event);

    /** It was told what hashes mean, and nothing of who holds the blocks. */
    void taught(Taught event);
  }

  /**
   * Consecutive blocks of one prompt were committed to a cache.
   *
   * @param place which cache
   * @param context adapter, namespace and salt as the event states them
   * @param parent engine hash of the block before the first one, or how to read its absence
   * @param engineHashes the engine's names for the blocks, in order
   * @param localHashes hash of each block's tokens, one per engine hash; empty = tokens unknown or
   *     unusable
   * @param extraHashes per block a hash of what else its content depends on (multimodal input...),
   *     0 = nothing; empty = nothing at all
   * @param origin whether the cache has one copy more of each block now
   */
  record Stored(
      Place place,
      StatedContext context,
      Parent parent,
      Hashes engineHashes,
      Hashes localHashes,
      Hashes extraHashes,
      Origin origin)
      implements KvEvent {

    /** An event of an engine that does not state the origin. */
    public Stored(
        Place place,
        StatedContext context,
        Parent parent,
        Hashes engineHashes,
        Hashes localHashes,
        Hashes extraHashes) {
      this(
          place, context, parent, engineHashes, localHashes, extraHashes, Origin.impliedBy(parent));
    }

    public Stored {
      requireNoneOrAll("local", localHashes, engineHashes);
      requireNoneOrAll("extra", extraHashes, engineHashes);
    }

    private static void requireNoneOrAll(String name, Hashes some, Hashes all) {
      if (!some.isEmpty() && some.size() != all.size()) {
        throw new IllegalArgumentException(
            some.size() + " " + name + " hashes for " + all.size() + " engine hashes");
      }
    }

    @Override
    public void accept(Visitor visitor) {
      visitor.stored(this);
    }
  }

  /**
   * How blocks came to be announced as stored. Source: {@code origin} of {@code BlockStored},
   * vllm#51699; {@code kv_cache_report_mode: full} (vLLM 0.32, {@code emit_cached_block_events})
   * announces reused blocks in just the form of new ones.
   */
  enum Origin {
    /** Computed or loaded: the cache has one copy more of each. */
    NEW,
    /** Found in the cache by a request: nothing changed. */
    REUSED,
    /** One or the other. */
    UNSTATED;

    /**
     * What is known where the engine says nothing: a report of reused blocks always begins with a
     * prompt's first block, so blocks below a parent outside the event are new ones.
     */
    public static Origin impliedBy(Parent parent) {
      return parent.kind() == Parent.Kind.ROOT ? UNSTATED : NEW;
    }
  }

  /**
   * Blocks were evicted from a cache.
   *
   * @param place which cache; a null medium means the device tier, and all media where the
   *     publisher is a pool
   * @param engineHashes the engine's names for the blocks; naming one twice takes two copies away
   * @param remainingCopies copies left per hash where the engine says so, else empty
   */
  record Removed(Place place, Hashes engineHashes, Hashes remainingCopies) implements KvEvent {
    @Override
    public void accept(Visitor visitor) {
      visitor.removed(this);
    }
  }

  /**
   * A scope of the publisher's cache was emptied at once.
   *
   * @param rank the rank it holds for
   * @param scope which media of it
   */
  record Cleared(int rank, ClearScope scope) implements KvEvent {
    @Override
    public void accept(Visitor visitor) {
      visitor.cleared(this);
    }
  }

  /** Media a clear covers. The ordinal is stored: never reorder. */
  enum ClearScope {
    /** The device tier only: vLLM's {@code AllBlocksCleared}. */
    DEVICE,
    /** Device and host tiers: SGLang's. */
    DEVICE_AND_HOST,
    /** All media of the publisher. */
    ALL,
    /** What the record's own stream announced, nothing else: the standard's {@code cleared}. */
    STREAM
  }

  /**
   * Events from {@code from} to {@code to} (both inclusive, unsigned) never arrived and can not be
   * had: what the index says of this publisher may be incomplete or stale.
   */
  record Gap(long from, long to) implements KvEvent {
    @Override
    public void accept(Visitor visitor) {
      visitor.gap(this);
    }
  }

  /** The publisher was unregistered: everything it announced is dead. */
  record Retired() implements KvEvent {
    @Override
    public void accept(Visitor visitor) {
      visitor.retired(this);
    }
  }

  /**
   * The record's life began: everything older ones announced is dead from here on, before the new
   * one has said anything. Travels alone, in a record that takes no place in its stream.
   *
   * @param retells whether it is the same engine's cache, told once more from its beginning because
   *     some of it was lost: until {@link Retold} the index knows less of it than there is
   */
  record Begun(boolean retells) implements KvEvent {
    @Override
    public void accept(Visitor visitor) {
      visitor.begun(this);
    }
  }

  /**
   * All is told that a life which {@link Begun#retells} was to tell; what was lost once more is
   * told by {@link Gap}.
   */
  record Retold() implements KvEvent {
    @Override
    public void accept(Visitor visitor) {
      visitor.retold(this);
    }
  }

  /**
   * What the engine hashes of some blocks mean; who holds them, others tell.
   *
   * @param blocks the blocks; their place is of no account
   */
  record Taught(Stored blocks) implements KvEvent {
    @Override
    public void accept(Visitor visitor) {
      visitor.taught(this);
    }
  }
}
