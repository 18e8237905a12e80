// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.KvEvent.Origin;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.ContextHash;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.streams.row.ContentRow;
import io.kvindex.streams.row.LoraRow;
import io.kvindex.streams.row.OrphanRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Stored events: finds out what each block means, or lets it wait as an orphan until that can be
 * told. A block whose parent is unknown is never taken for the start of a prompt.
 */
final class Storing {

  private final PartitionTable table;
  private final RowBatch batch;
  private final Contents contents;
  private final Meanings meanings;
  private final CopyJudge judge;
  private final Spaces spaces;
  private final Linking linking;
  private final Counts counts;
  private final Limits limits;
  private final Map<HashProfile, PrefixHasher> hashers = new HashMap<>();

  Storing(
      PartitionTable table,
      RowBatch batch,
      Contents contents,
      Meanings meanings,
      CopyJudge judge,
      Counts counts,
      Limits limits) {
    this.meanings = meanings;
    this.judge = judge;
    this.table = table;
    this.batch = batch;
    this.contents = contents;
    this.counts = counts;
    this.limits = limits;
    spaces = new Spaces(table, batch, contents);
    linking = new Linking(table, batch, contents, meanings, counts);
  }

  /** Who holds the blocks of an event, and how its stores of one block count. */
  record Holder(OwnerState owner, CopyPolicy copies, Origin origin) {}

  /**
   * @param holder null = the event only says what the blocks mean
   */
  void store(
      EventRecord record, Stored event, @Nullable Holder holder, int tableRef, int publisherRef) {
    StatedContext stated = event.context();
    HashProfile profile = record.table().hashProfile();
    long context = profile.context(stated.loraName(), stated.namespace(), stated.salt());
    learnNames(record, stated, context, tableRef);
    PrefixHasher hasher = hashers.computeIfAbsent(profile, PrefixHasher::of);
    int shared = spaces.shared(tableRef, stated.namespace());
    Integer ownBefore = spaces.own(tableRef, stated.namespace(), publisherRef);
    Integer own = ownBefore;
    EngineNames names = EngineNames.of(record, event, context);
    Describer describer =
        holder == null ? Describer.LOWER_TIER : Describer.of(record, event.place());
    boolean byHashOnly =
        describer == Describer.LOWER_TIER && table.publishers().get(publisherRef).device();
    if (holder != null) {
      judge.held(holder.owner(), event, hash -> parentOf(spaces.lookUp(ownBefore, shared, hash)));
    }
    Prefix prefix =
        names == null ? start(event, context, own, shared, publisherRef) : Prefix.unknown();
    for (int i = 0; i < event.engineHashes().size(); i++) {
      long hash = event.engineHashes().get(i);
      boolean hasLocal = !event.localHashes().isEmpty();
      long local = hasLocal ? event.localHashes().get(i) : 0;
      long extra = event.extraHashes().isEmpty() ? 0 : event.extraHashes().get(i);
      ContentRow content;
      boolean learns = false;
      ContentRow said = spaces.lookUp(own, shared, hash);
      ContentRow known = meanings.believed(said, publisherRef);
      if (names != null) {
        Long held = names.mayMove() ? heldKey(publisherRef, hash, event.place().group()) : null;
        content = names.orTaught(hash, names.next(hash, extra, held), said, held);
        learns = true;
      } else if (describer == Describer.LOWER_TIER && known != null && known.byDevice()) {
        content = known;
      } else if (prefix.known() && hasLocal && !byHashOnly) {
        content = prefix.next(hasher, local, extra, describer != Describer.LOWER_TIER);
        if (describer == Describer.PEER && isDisputed(known, content)) {
          return; // nor can what comes below it be right
        }
        learns = true;
      } else {
        content = known;
        if (content != null && hasLocal && content.local() != local) {
          counts.add(Outcome.HASH_DISAGREEMENT);
          content = null;
        }
      }
      if (learns && content != null) {
        own =
            learn(
                hash,
                content,
                said,
                own,
                shared,
                tableRef,
                stated.namespace(),
                publisherRef,
                hasher);
      }
      int space = own == null ? shared : own;
      if (holder != null) {
        boolean byParent = hasLocal && prefix.named() && !byHashOnly;
        OrphanRow ifUnknown =
            new OrphanRow(byParent ? prefix.engineHash() : hash, byParent, local, extra);
        Outcome unknown = byHashOnly && hasLocal ? Outcome.UNDESCRIBED : Outcome.ORPHANED;
        hold(holder, event.place().group(), hash, space, content, ifUnknown, unknown);
      } else if (content != null && !table.tables().held(space, content.lookupKey())) {
        // Nobody may ever hold it: it is kept as long as what nobody holds any more.
        contents.unheld(space, hash, content.lookupKey(), true);
      }
      prefix = Prefix.after(hash, content);
    }
  }

  private static @Nullable Long parentOf(@Nullable ContentRow block) {
    return block == null || block.parent() == 0 ? null : Long.valueOf(block.parent());
  }

  /** What a peer says of a hash counts for nothing where engines say otherwise. */
  private boolean isDisputed(@Nullable ContentRow known, ContentRow said) {
    boolean disputed = known != null && !known.sameMeaning(said);
    if (disputed) {
      counts.add(Outcome.HASH_DISAGREEMENT);
    }
    return disputed;
  }

  private Prefix start(
      Stored event, long context, @Nullable Integer own, int shared, int publisherRef) {
    return switch (event.parent().kind()) {
      case ROOT -> Prefix.root(context);
      case HASH -> {
        long parent = event.parent().hash();
        ContentRow said = spaces.lookUp(own, shared, parent);
        yield Prefix.after(parent, meanings.believed(said, publisherRef));
      }
      case UNKNOWN -> Prefix.unknown();
    };
  }

  /** Key under which a publisher has a block, or had until this record; null = under none. */
  private @Nullable Long heldKey(int publisherRef, long hash, int group) {
    for (OwnerState owner : table.owners().live(publisherRef)) {
      BlockChange held = batch.blocks().of(owner, hash, group);
      if (held.isResolved()) {
        return held.lookupKey();
      }
    }
    return null;
  }

  /** Keeps what a hash means; where others say otherwise, for this publisher alone. */
  private @Nullable Integer learn(
      long hash,
      ContentRow content,
      @Nullable ContentRow known,
      @Nullable Integer own,
      int shared,
      int tableRef,
      @Nullable String namespace,
      int publisherRef,
      PrefixHasher hasher) {
    Integer space = own;
    boolean outranks = known != null && !known.byDevice() && content.byDevice();
    if (known != null && known.sameMeaning(content) && !outranks) {
      return own;
    }
    if (known != null && own == null && !outranks) {
      counts.add(Outcome.HASH_DISAGREEMENT);
      space = spaces.createOwn(tableRef, namespace, publisherRef);
    }
    boolean isOwn = space != null && !(outranks && contents.get(space, hash) == null);
    int writeTo = isOwn ? space : shared;
    meanings.put(writeTo, hash, content);
    linking.taught(writeTo, hash, content, hasher);
    return space;
  }

  private void hold(
      Holder holder,
      int group,
      long hash,
      int space,
      @Nullable ContentRow content,
      OrphanRow ifUnknown,
      Outcome unknown) {
    OwnerState owner = holder.owner();
    BlockChange change =
        surelyAbsent(owner, space, content)
            ? batch.blocks().ofAbsent(owner, hash, group)
            : batch.blocks().of(owner, hash, group);
    if (content != null) {
      change.store(holder.copies(), holder.origin());
      change.resolve(space, content);
      return;
    }
    if (change.isKnown() && change.isResolved()) {
      change.store(holder.copies(), holder.origin());
      return;
    }
    if (!change.isKnown() && table.orphans().size() >= limits.orphans()) {
      counts.add(Outcome.ORPHAN_LIMIT);
      judge.noMoreProofs(owner);
      return;
    }
    counts.add(unknown);
    boolean waits = change.isKnown();
    change.store(holder.copies(), holder.origin());
    if (waits && (!ifUnknown.hasLocal() || change.space() != space)) {
      // What was said of it before says more, or waits where it was said.
      return;
    }
    change.orphan(space);
    batch.put(RowKeys.orphan(space, hash, owner.id(), group), ifUnknown.encode());
  }

  /**
   * Whether the index itself tells that there is no residency row, which saves reading one. It does
   * where a hash has one meaning for everybody, nothing waits for its prefix and one row makes the
   * index bit.
   */
  private boolean surelyAbsent(OwnerState owner, int space, @Nullable ContentRow content) {
    return content != null
        && table.orphans().size() == 0
        && owner.undecided() == 0
        && table.tables().space(space).isShared()
        && !table.publishers().get(owner.row().publisherRef()).hasSeveralGroups()
        && !owner.holds(content.lookupKey());
  }

  private void learnNames(EventRecord record, StatedContext stated, long context, int tableRef) {
    if (context != ContextHash.NONE && !table.names().knowsContext(tableRef, context)) {
      if (table.names().contextCount(tableRef) >= limits.contexts()) {
        counts.add(Outcome.CONTEXT_LIMIT);
      } else {
        batch.put(
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
      batch.put(RowKeys.lora(tableRef, id, instance), new LoraRow(name).encode());
    }
  }
}
