// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.row.LoraRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Stored events: finds out what each block means, or lets it wait as an orphan until that can be
 * told. A block whose parent is unknown is never taken for the start of a prompt. Whose word about
 * a hash counts: what an event of the device tier says of it wins over what a lower tier says,
 * whichever comes first; and a publisher that has announced blocks of its device is believed about
 * that tier only: what it holds elsewhere is attached by hash. For the thread that owns the table.
 */
final class Storing {

  private final PartitionTable table;
  private final Blocks blocks;
  private final CopyJudge judge;
  private final Spaces spaces;
  private final Teaching teaching;
  private final Counts counts;
  private final Limits limits;
  private final Map<HashProfile, PrefixHasher> hashers = new HashMap<>();
  private final Holding holding;
  private final Meaning said = new Meaning();
  private final Meaning content = new Meaning();

  /**
   * Keys of blocks that the record at hand takes away, where a store behind that may only move them
   * to another tier and not say what they are.
   */
  private final Map<Long, Long> removed = new HashMap<>();

  private boolean remembersRemoved;

  /** The block before, or unknown. */
  private final Meaning before = new Meaning();

  Storing(PartitionTable table, CopyJudge judge, Counts counts, Limits limits) {
    this.table = table;
    this.judge = judge;
    this.counts = counts;
    this.limits = limits;
    blocks = table.blocks();
    spaces = new Spaces(table);
    teaching = new Teaching(table, spaces, counts);
    holding = new Holding(table);
  }

  /** A record begins. */
  void begin(EventRecord record) {
    removed.clear();
    remembersRemoved = EngineNames.mayMove(record);
  }

  /** The record takes a block away. */
  void removed(long hash, Holding block) {
    if (remembersRemoved && block.isResolved()) {
      removed.put(hash, block.key());
    }
  }

  /** Who holds the blocks of an event, and how its stores of one block count. */
  record Who(OwnerState owner, CopyPolicy copies, Origin origin) {}

  /**
   * @param who null = the event only says what the blocks mean
   */
  void store(EventRecord record, Stored event, @Nullable Who who, int tableRef, int publisherRef) {
    StatedContext stated = event.context();
    HashProfile profile = record.table().hashProfile();
    long context = profile.context(stated.loraName(), stated.namespace(), stated.salt());
    learnNames(record, stated, context, tableRef);
    PrefixHasher hasher = hashers.computeIfAbsent(profile, PrefixHasher::of);
    int shared = spaces.shared(tableRef, stated.namespace());
    int own = spaces.own(tableRef, stated.namespace(), publisherRef);
    EngineNames names = EngineNames.of(record, event, context);
    Describer describer = who == null ? Describer.LOWER_TIER : Describer.of(record, event.place());
    boolean device = table.publishers().get(publisherRef).device();
    boolean byHashOnly = describer == Describer.LOWER_TIER && device;
    if (who != null) {
      int ownBefore = own;
      judge.held(who.owner(), event, hash -> parentOf(ownBefore, shared, hash));
    }
    // How far the event has been followed: whether what is before its next block is known.
    boolean first = names == null && event.parent().kind() == Parent.Kind.ROOT;
    boolean follows = first;
    boolean named = names == null && event.parent().kind() == Parent.Kind.HASH;
    long parent = named ? event.parent().hash() : 0;
    before.unknown();
    if (named) {
      spaces.lookUp(own, shared, parent, before);
      follows = isBelieved(before, device);
    }
    Hashes hashes = event.engineHashes();
    Hashes locals = event.localHashes();
    Hashes extras = event.extraHashes();
    boolean hasLocal = !locals.isEmpty();
    blocks.touch(shared, hashes);
    for (int i = 0; i < hashes.size(); i++) {
      long hash = hashes.get(i);
      long local = hasLocal ? locals.get(i) : 0;
      long extra = extras.isEmpty() ? 0 : extras.get(i);
      int in = spaces.lookUp(own, shared, hash, said);
      boolean known = isBelieved(said, device);
      boolean learns = false;
      if (names != null) {
        int group = event.place().group();
        Long key = names.mayMove() ? heldKey(publisherRef, hash, group) : null;
        boolean held = key != null;
        long heldKey = held ? key : 0;
        names.next(hash, extra, held, heldKey, content);
        if (names.isTaught(hash, said, held, heldKey)) {
          content.is(said);
        }
        learns = true;
      } else if (describer == Describer.LOWER_TIER && known && said.byDevice()) {
        content.is(said);
      } else if (follows && hasLocal && !byHashOnly) {
        boolean surely = describer != Describer.LOWER_TIER;
        content.follows(before, first, parent, context, hasher, local, extra, surely);
        if (describer == Describer.PEER && known && !said.isSameAs(content)) {
          // What a peer says of a hash counts for nothing where engines say otherwise.
          counts.add(Outcome.HASH_DISAGREEMENT);
          return; // nor can what comes below it be right
        }
        learns = true;
      } else if (!known) {
        content.unknown();
      } else if (hasLocal && said.local() != local) {
        counts.add(Outcome.HASH_DISAGREEMENT);
        content.unknown();
      } else {
        content.is(said);
      }
      if (learns) {
        blocks.touchKey(shared, content.key());
        in = teaching.learn(hash, content, said, in, own, shared, publisherRef, hasher);
        if (in == Spaces.NONE) {
          content.unknown();
        } else if (in != shared) {
          own = in;
        }
      }
      int space = own == Spaces.NONE ? shared : own;
      if (who != null && content.isKnown()) {
        hold(who, event.place().group(), hash, in);
      } else if (who != null) {
        boolean byParent = hasLocal && named && !byHashOnly;
        Outcome unknown = byHashOnly && hasLocal ? Outcome.UNDESCRIBED : Outcome.ORPHANED;
        wait(
            who,
            event.place().group(),
            hash,
            space,
            byParent ? parent : hash,
            byParent,
            local,
            extra,
            unknown);
      } else if (content.isKnown() && blocks.find(in, hash)) {
        // Nobody may ever hold it: it is kept as long as what nobody holds any more.
        blocks.keep();
      }
      first = false;
      named = true;
      parent = hash;
      before.is(content);
      follows = content.isKnown();
    }
  }

  private boolean isBelieved(Meaning meaning, boolean device) {
    return meaning.isKnown() && (meaning.byDevice() || !device);
  }

  private long parentOf(int own, int shared, long hash) {
    int in = spaces.lookUp(own, shared, hash, said);
    return in == Spaces.NONE ? 0 : blocks.parent();
  }

  /** Key under which a publisher has a block, or had until this record; null = under none. */
  private @Nullable Long heldKey(int publisherRef, long hash, int group) {
    List<OwnerState> live = table.owners().live(publisherRef);
    for (int i = 0; i < live.size(); i++) {
      if (holding.read(live.get(i), hash, group).isResolved()) {
        return holding.key();
      }
    }
    return removed.get(hash);
  }

  private void hold(Who who, int group, long hash, int in) {
    Holding block = holding.read(who.owner(), hash, group);
    block.store(who.copies(), who.origin());
    block.resolve(in);
    block.write();
  }

  private void wait(
      Who who,
      int group,
      long hash,
      int space,
      long awaited,
      boolean byParent,
      long local,
      long extra,
      Outcome unknown) {
    OwnerState owner = who.owner();
    Holding block = holding.read(owner, hash, group);
    if (block.isKnown() && block.isResolved()) {
      block.store(who.copies(), who.origin());
      block.write();
      return;
    }
    if (!block.isKnown() && table.orphans().size() >= limits.orphans()) {
      counts.add(Outcome.ORPHAN_LIMIT);
      judge.noMoreProofs(owner);
      return;
    }
    counts.add(unknown);
    boolean waits = block.isKnown();
    block.store(who.copies(), who.origin());
    // What was said of it before may say more, or waits where it was said.
    if (!waits || byParent && block.space() == space) {
      block.orphan(space, awaited, byParent, local, extra);
    }
    block.write();
  }

  private void learnNames(EventRecord record, StatedContext stated, long context, int tableRef) {
    if (context != ContextHash.NONE && !table.names().knowsContext(tableRef, context)) {
      if (table.names().contextCount(tableRef) >= limits.contexts()) {
        counts.add(Outcome.CONTEXT_LIMIT);
      } else {
        table.put(
            RowKeys.ofHash(RowKind.CONTEXT, tableRef, context),
            EngineNames.context(record.table().hashProfile(), stated).encode());
      }
    }
    String name = stated.loraName();
    Long id = stated.loraId();
    String instance = record.stream().publisher().instanceId();
    if (name != null
        && id != null
        && !name.equals(StatedContext.nameOf(id))) { // an event without the name takes none away
      learnAdapter(tableRef, id, instance, name);
    }
  }

  private void learnAdapter(int tableRef, long id, String instance, String name) {
    String known = table.names().lora(tableRef, id, instance);
    if (known == null && table.names().loraCount(tableRef) >= limits.contexts()) {
      counts.add(Outcome.CONTEXT_LIMIT);
    } else if (!name.equals(known)) {
      table.put(RowKeys.lora(tableRef, id, instance), new LoraRow(name).encode());
    }
  }

  /**
   * A publisher announces a block of its device: from here on lower tiers are not believed. Blocks
   * it holds there already, by their word alone, leave the answers until the device has spoken of
   * them.
   */
  void describedByDevice(int publisherRef) {
    if (table.publishers().get(publisherRef).device()) {
      return;
    }
    table.put(
        RowKeys.ofId(RowKind.PUBLISHER, publisherRef),
        table.publishers().get(publisherRef).withDevice().encode());
    for (OwnerState owner : List.copyOf(table.owners().live(publisherRef))) {
      if (!CopyJudge.isOnDevice(owner)) {
        doubt(owner, table.publishers().get(publisherRef).groups());
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
    if (table.orphans().size() >= limits.orphans()) {
      counts.add(Outcome.ORPHAN_LIMIT);
      block.drop();
    } else {
      counts.add(Outcome.UNDESCRIBED);
      block.orphan(space, hash, false, 0, 0);
    }
    block.write();
  }
}
