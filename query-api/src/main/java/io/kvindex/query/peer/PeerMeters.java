// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Locale;
import java.util.function.Supplier;

/** Counters of dumps given and taken. Thread-safe. */
final class PeerMeters {

  /** What became of a block of a peer's dump, or of an event whose blocks nobody counted. */
  enum Outcome {
    /** In the log. */
    IMPORTED,
    /** Kafka did not take it. */
    FAILED,
    /** Waited too long for its publisher to be registered. */
    EXPIRED,
    /** More than is held. */
    HELD_LIMIT,
    /** The publisher speaks for itself already. */
    HAS_STATE,
    /** The registration names another block size. */
    BLOCK_SIZE,
    /** The registration names a hash profile the dump's hashes are not of. */
    HASH_PROFILE,
    /** Of a publisher that is not followed batch by batch: a pool, or one of the standard. */
    SOURCE_TYPE,
    /** Held in a tier that is not known here. */
    TIER,
    /** The peer has it from a peer itself. */
    HEARSAY,
    /** Of a cache that is no worker's. */
    CACHE_OWNER,
    /** Neither at the start of a prompt nor behind a block. */
    NO_PARENT,
    /** Taken back later in the same dump. */
    TAKEN_BACK,
    /** Replaced by a later dump before it could be used. */
    REPLACED,
    /** In a partition the peer could not read, or that says too little. */
    PARTITION;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final MeterRegistry registry;

  PeerMeters(MeterRegistry registry) {
    this.registry = registry;
  }

  /** Blocks of a peer's dump. */
  void blocks(Outcome outcome, long count) {
    String what = "Blocks of peers' dumps, by what became of them";
    count("kvindex.peer.blocks", what, "outcome", outcome.label(), count);
  }

  /** A dump was asked for. */
  void fetch(boolean taken) {
    String result = taken ? "taken" : "failed";
    count("kvindex.peer.fetches", "Dumps asked of peers", "result", result, 1);
  }

  void watchHeld(Supplier<Number> held) {
    Gauge.builder("kvindex.peer.held", held)
        .description("Blocks of peers' dumps whose publishers are not registered")
        .register(registry);
  }

  /** Blocks in a dump given, or left out. */
  void dumped(String outcome, long count) {
    String what = "Resident blocks by what a dump did with them";
    count("kvindex.dump.blocks", what, "outcome", outcome, count);
  }

  /** A dump was given. */
  void dump(String result) {
    count("kvindex.dump.requests", "Dumps given", "result", result, 1);
  }

  private void count(String name, String description, String tag, String value, long more) {
    Counter.builder(name)
        .description(description)
        .tag(tag, value)
        .register(registry)
        .increment(more);
  }
}
