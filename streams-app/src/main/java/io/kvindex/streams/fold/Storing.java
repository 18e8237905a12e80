// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.Media;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.table.Names.Adapter;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.Publisher;
import io.kvindex.streams.view.ContextNames;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Stored events: finds out what each block means, or lets it wait as an orphan until that can be
 * told. A block whose parent is unknown is never taken for the start of a prompt. Whose word about
 * a hash counts: what an event of the device tier says of it wins over what a lower tier says,
 * whichever comes first; and a publisher that has announced blocks of its device is believed about
 * that tier only: what it holds elsewhere is attached by hash. For the thread that owns the table.
 */
final class Storing {

  /**
   * Who says what a block means. An engine hash covers salt, adapter, images and parent, so one
   * hash is one block; but events of lower tiers, of connectors and of pools leave some of these
   * out (vLLM's offload events have no {@code extra_keys}), and what they say then would be another
   * block.
   */
  private enum Describer {
    /** The event tells all of it. */
    DEVICE,
    /** The event may leave out what the hash covers. */
    LOWER_TIER,
    /** Another indexer, which has it from an engine. */
    PEER
  }

  /** Who holds the blocks of an event, and how its stores of one block count. */
  record Who(OwnerState owner, CopyPolicy copies, Origin origin) {}

  /** Blocks the memory is asked for at a time. */
  private static final int TOUCHED = 64;

  private final PartitionTable table;
  private final Blocks blocks;
  private final CopyJudge judge;
  private final Spaces spaces;
  private final Teaching teaching;
  private final Counts counts;
  private final Limits limits;
  private final Map<HashProfile, SeqHash> hashers = new HashMap<>();
  private final Holding holding;
  private final Meaning said = new Meaning();
  private final Meaning content = new Meaning();

  /** The block before, or unknown. */
  private final Meaning before = new Meaning();

  /** What comes next, see {@link #touchNext}. */
  private final Meaning ahead = new Meaning();

  private final long[] keys = new long[TOUCHED];

  private final LongUnaryOperator parents = this::parentOf;

  /**
   * Keys of blocks that the record at hand takes away, where a store behind that may only move them
   * to another tier and not say what they are.
   */
  private final Map<Long, Long> removed = new HashMap<>();

  private boolean remembersRemoved;

  Storing(PartitionTable table, CopyJudge judge, Counts counts, Limits limits) {
    this.table = table;
    this.judge = judge;
    this.counts = counts;
    this.limits = limits;
    blocks = table.blocks();
    spaces = new Spaces(table, counts);
    teaching = new Teaching(table, counts);
    holding = new Holding(table);
  }

  /** A record begins. */
  void begin(EventRecord next) {
    removed.clear();
    remembersRemoved = EngineNames.mayMove(next);
  }

  /** The record takes a block away. */
  void removed(long hash, Holding block) {
    if (remembersRemoved && block.resolved) {
      removed.put(hash, block.key);
    }
  }

  /**
   * Takes in an event of the record.
   *
   * @param by the record's publisher
   * @param who null = the event only says what the blocks mean
   */
  void store(EventRecord from, int tableRef, Publisher by, Stored event, @Nullable Who who) {
    StatedContext stated = event.context();
    HashProfile profile = from.table().hashProfile();
    long context = profile.context(stated.loraName(), stated.namespace(), stated.salt());
    learnNames(from, tableRef, stated, context);
    SeqHash hasher = hashers.computeIfAbsent(profile, of -> new SeqHash(of.byTokens().xxh3Seed()));
    spaces.of(tableRef, stated.namespace(), by);
    boolean byName = EngineNames.mean(from, event);
    boolean moves = remembersRemoved && event.parent().kind() == Parent.Kind.UNKNOWN;
    boolean addsExtra = !profile.algorithm().coversExtraKeys();
    Describer describer = who == null ? Describer.LOWER_TIER : describer(from, event.place());
    boolean device = by.device();
    boolean byHashOnly = describer == Describer.LOWER_TIER && device;
    if (who != null) {
      judge.held(who.owner(), event, parents);
    }
    // How far the event has been followed: whether what is before its next block is known.
    boolean first = !byName && event.parent().kind() == Parent.Kind.ROOT;
    boolean follows = first;
    boolean named = !byName && event.parent().kind() == Parent.Kind.HASH;
    long parent = event.parent().hash();
    before.unknown();
    if (named) {
      spaces.lookUp(parent, before);
      follows = before.isBelieved(device);
    }
    Hashes hashes = event.engineHashes();
    Hashes locals = event.localHashes();
    Hashes extras = event.extraHashes();
    int group = event.place().group();
    boolean hasLocal = !locals.isEmpty();
    blocks.touch(spaces.shared(), hashes);
    for (int i = 0; i < hashes.size(); i++) {
      if (i % TOUCHED == 0 && follows && hasLocal && !byHashOnly && !byName) {
        touchNext(first, context, hasher, locals, extras, i);
      }
      long hash = hashes.get(i);
      long local = hasLocal ? locals.get(i) : 0;
      long extra = extras.isEmpty() ? 0 : extras.get(i);
      int in = spaces.lookUp(hash, said);
      boolean known = said.isBelieved(device);
      boolean learns = false;
      if (byName) {
        context = addsExtra ? ContextHash.withExtra(context, extra) : context;
        Long held = moves ? heldKey(by, hash, group) : null;
        if (EngineNames.isTaught(from, hash, said, held)) {
          content.is(said);
        } else {
          content.isNamed(held == null ? context : held ^ hash, hash, parent);
        }
        learns = true;
      } else if (describer == Describer.LOWER_TIER && known && said.byDevice) {
        content.is(said);
      } else if (follows && hasLocal && !byHashOnly) {
        boolean surely = describer != Describer.LOWER_TIER;
        if (first) {
          content.opens(context, local, extra, surely);
        } else {
          content.follows(before, parent, hasher, local, extra, surely);
        }
        if (describer == Describer.PEER && known && !said.isSameAs(content)) {
          // What a peer says of a hash counts for nothing where engines say otherwise.
          counts.add(Outcome.HASH_DISAGREEMENT);
          return; // nor can what comes below it be right
        }
        learns = true;
      } else if (!known) {
        content.unknown();
      } else if (hasLocal && said.local != local) {
        counts.add(Outcome.HASH_DISAGREEMENT);
        content.unknown();
      } else {
        content.is(said);
      }
      if (learns) {
        in = teaching.learn(spaces, hash, content, said, in, hasher);
        content.known = in != Spaces.NONE;
      }
      if (who != null && content.known) {
        Holding block = holding.read(who.owner(), hash, group);
        block.store(who.copies(), who.origin());
        block.resolve(in);
        block.write();
      } else if (who != null) {
        Outcome unknown = byHashOnly && hasLocal ? Outcome.UNDESCRIBED : Outcome.ORPHANED;
        boolean byParent = hasLocal && named && !byHashOnly;
        wait(who, group, hash, unknown, byParent, byParent ? parent : hash, local, extra);
      } else if (content.known && blocks.find(in, hash)) {
        // Nobody may ever hold it: it is kept as long as what nobody holds any more.
        blocks.keep();
      }
      first = false;
      named = true;
      parent = hash;
      before.is(content);
      follows = content.known;
    }
  }

  /**
   * Asks the memory for where the index has the next blocks of an event: one after the other, each
   * would be waited for.
   *
   * @param first whether they open a prompt; else they follow the block before
   * @param context of the event, for those that open one
   */
  private void touchNext(
      boolean first, long context, SeqHash hasher, Hashes locals, Hashes extras, int from) {
    int count = Math.min(TOUCHED, locals.size() - from);
    ahead.is(before);
    for (int i = 0; i < count; i++) {
      long local = locals.get(from + i);
      long extra = extras.isEmpty() ? 0 : extras.get(from + i);
      if (i == 0 && first) {
        ahead.opens(context, local, extra, true);
      } else {
        ahead.follows(ahead, 0, hasher, local, extra, true);
      }
      keys[i] = ahead.key();
    }
    blocks.touchKeys(spaces.shared(), keys, count);
  }

  private static Describer describer(EventRecord record, Place place) {
    if (PeerImport.isImport(record.stream())) {
      return Describer.PEER;
    }
    boolean device =
        !record.type().isPool() && Media.standard().tier(place.medium()) == Media.Tier.DEVICE;
    return device ? Describer.DEVICE : Describer.LOWER_TIER;
  }

  private long parentOf(long hash) {
    return spaces.lookUp(hash, said) == Spaces.NONE ? 0 : said.parent;
  }

  /** Key under which the publisher has a block, or had until this record; null = under none. */
  private @Nullable Long heldKey(Publisher by, long hash, int group) {
    List<OwnerState> live = by.live();
    for (int i = 0; i < live.size(); i++) {
      if (holding.read(live.get(i), hash, group).resolved) {
        return holding.key;
      }
    }
    return removed.get(hash);
  }

  /** A block is held whose meaning is not known. */
  private void wait(
      Who who,
      int group,
      long hash,
      Outcome unknown,
      boolean byParent,
      long awaited,
      long local,
      long extra) {
    Holding block = holding.read(who.owner(), hash, group);
    boolean known = block.isKnown();
    if (!known && table.waiting().size() >= limits.orphans()) {
      counts.add(Outcome.ORPHAN_LIMIT);
      table.owners().loseCopies(who.owner());
      return;
    }
    block.store(who.copies(), who.origin());
    if (!block.resolved) {
      counts.add(unknown);
      // What was said of it before may say more, or waits where it was said.
      if (!known || byParent && block.space == spaces.first()) {
        block.orphan(spaces.first(), awaited, byParent, local, extra);
      }
    }
    block.write();
  }

  private void learnNames(EventRecord from, int tableRef, StatedContext stated, long context) {
    Long id = stated.loraId();
    String name = stated.loraName();
    if (context != ContextHash.NONE) {
      Map<Long, ContextNames> known = table.names(tableRef).contexts();
      if (!known.containsKey(context) && hasRoom(known)) {
        // The names that are in the lookup key.
        HashProfile.Algorithm by = from.table().hashProfile().algorithm();
        String lora = by.coversLora() ? null : name;
        String salt = by.coversSalt() ? null : stated.salt();
        table.put(tableRef, new ContextNames(context, lora, stated.namespace(), salt));
      }
    }
    // An event without the name takes none away.
    if (name != null && id != null && !name.equals(StatedContext.nameOf(id))) {
      Adapter adapter = new Adapter(id, from.stream().publisher().instanceId());
      Map<Adapter, String> known = table.names(tableRef).adapters();
      if (!name.equals(known.get(adapter)) && (known.containsKey(adapter) || hasRoom(known))) {
        table.put(tableRef, adapter, name);
      }
    }
  }

  private boolean hasRoom(Map<?, ?> names) {
    boolean room = names.size() < limits.contexts();
    if (!room) {
      counts.add(Outcome.CONTEXT_LIMIT);
    }
    return room;
  }

  /**
   * A publisher that announces a block of its device is not believed about lower tiers from here
   * on. Blocks it holds there already, by their word alone, leave the answers until the device has
   * spoken of them.
   */
  void noteDevice(EventRecord from, Publisher by, Place place) {
    if (by.device() || describer(from, place) != Describer.DEVICE) {
      return;
    }
    by.speakOfDevice();
    for (OwnerState owner : List.copyOf(by.live())) {
      if (!CopyJudge.isOnDevice(owner)) {
        doubt(owner, by.groups());
      }
    }
  }

  private void doubt(OwnerState owner, long groups) {
    for (long left = groups; left != 0; left &= left - 1) {
      int group = Long.numberOfTrailingZeros(left);
      blocks.forEach(
          owner.holder(),
          group,
          (space, hash) -> {
            if (!blocks.byDevice()) {
              doubt(owner, group, space, hash);
            }
          });
    }
  }

  private void doubt(OwnerState owner, int group, int space, long hash) {
    Holding block = holding.read(owner, hash, group);
    if (table.waiting().size() >= limits.orphans()) {
      counts.add(Outcome.ORPHAN_LIMIT);
      block.drop();
    } else {
      counts.add(Outcome.UNDESCRIBED);
      block.orphan(space, hash, false, 0, 0);
    }
    block.write();
  }
}
