// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.Incarnation;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.peer.PeerBlocks.Source;
import io.kvindex.query.peer.PeerMeters.Outcome;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.streams.view.StreamPosition;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Blocks of dumps whose publishers are not registered yet. Bounded by what a dump may hold, and in
 * time: what a cache held a while ago says little about it. Thread-safe.
 */
final class HeldBlocks {

  private record Held(PeerBlocks blocks, long sinceNs) {}

  /** How often to look for what is too old. */
  private static final long AGE_LOOK_NS = TimeUnit.MILLISECONDS.toNanos(250);

  private final Map<Source, Held> held = new HashMap<>();
  private final long maxBlocks;
  private final long maxAgeNs;
  private final PeerMeters meters;
  private final AtomicLong blocks = new AtomicLong();

  /** What was looked through last; null = something was added since. */
  private @Nullable RegistrationSnapshot settledFor;

  private long settledNs;

  /**
   * @param maxBlocks blocks held at most
   * @param maxAgeNs how long they are
   */
  HeldBlocks(long maxBlocks, long maxAgeNs, PeerMeters meters) {
    this.maxBlocks = maxBlocks;
    this.maxAgeNs = maxAgeNs;
    this.meters = meters;
    meters.watchHeld(this::blocks);
  }

  /** How many are held; never waits. */
  long blocks() {
    return blocks.get();
  }

  synchronized boolean isEmpty() {
    return held.isEmpty();
  }

  /** Holds what a dump said; of two dumps the later one counts. */
  synchronized void add(Map<Source, PeerBlocks> dump, long nowNs) {
    settledFor = null;
    dump.forEach(
        (source, some) -> {
          Held before = held.remove(source);
          if (before != null) {
            drop(before, Outcome.REPLACED);
          }
          if (blocks.get() + some.blocks() > maxBlocks) {
            meters.blocks(Outcome.HELD_LIMIT, some.blocks());
          } else {
            held.put(source, new Held(some, nowNs));
            blocks.addAndGet(some.blocks());
          }
        });
  }

  /**
   * Hands on what has become of use, and drops what will never be. Cheap where nothing was
   * registered since the last call: it is called every few milliseconds for a quarter of an hour.
   *
   * @param sink takes blocks whose publisher is registered and has said nothing itself
   */
  synchronized void settle(
      RegistrationSnapshot registrations,
      IndexAccess index,
      long nowNs,
      BiConsumer<Registered, PeerBlocks> sink) {
    if (registrations == settledFor && nowNs - settledNs < AGE_LOOK_NS) {
      return;
    }
    settledFor = registrations;
    settledNs = nowNs;
    Iterator<Map.Entry<Source, Held>> all = held.entrySet().iterator();
    while (all.hasNext()) {
      Map.Entry<Source, Held> next = all.next();
      Source source = next.getKey();
      Registered registered = registrations.get(source.publisher());
      if (registered == null || !registered.registration().table().model().equals(source.model())) {
        if (nowNs - next.getValue().sinceNs() > maxAgeNs) {
          all.remove();
          drop(next.getValue(), Outcome.EXPIRED);
        }
      } else {
        all.remove();
        settle(source, registered, index, next.getValue(), sink);
      }
    }
  }

  private void settle(
      Source source,
      Registered registered,
      IndexAccess index,
      Held some,
      BiConsumer<Registered, PeerBlocks> sink) {
    Outcome refusal = refusal(source, registered, index);
    if (refusal != null) {
      drop(some, refusal);
    } else {
      blocks.addAndGet(-some.blocks().blocks());
      sink.accept(registered, some.blocks());
    }
  }

  private void drop(Held what, Outcome why) {
    blocks.addAndGet(-what.blocks().blocks());
    meters.blocks(why, what.blocks().blocks());
  }

  /** Why a registered publisher's blocks are not taken, null = they are. */
  private static @Nullable Outcome refusal(
      Source source, Registered registered, IndexAccess index) {
    Registration registration = registered.registration();
    SourceType type = registration.type();
    if (type.isPool() || type == SourceType.KV_EVENTS) {
      return Outcome.SOURCE_TYPE;
    } else if (registration.table().blockSize() != source.blockSize()) {
      return Outcome.BLOCK_SIZE;
    } else if (!fits(source.profile(), registration.table().hashProfile())) {
      return Outcome.HASH_PROFILE;
    }
    // The table decides; this only spares the log what would be dropped there.
    StreamPosition own = index.position(registration.table(), registration.publisher());
    return own != null && isBeyond(own.incarnation(), registered.generation())
        ? Outcome.HAS_STATE
        : null;
  }

  private static boolean isBeyond(Incarnation incarnation, long generation) {
    return incarnation.generation() > generation
        || incarnation.generation() == generation && incarnation.life() != PeerImport.NO_LIFE;
  }

  private static boolean fits(@Nullable HashProfile stated, HashProfile registered) {
    return stated == null ? DumpParts.isDynamos(registered) : stated.equals(registered);
  }
}
