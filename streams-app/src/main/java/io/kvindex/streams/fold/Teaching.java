// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.Media;
import io.kvindex.streams.row.Orphan;
import io.kvindex.streams.row.SpaceRow;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Notes what a hash means, where others say otherwise for its publisher alone, and gives orphans
 * their place that waited for it, and those that wait for them in turn. For the thread that owns
 * the table.
 */
final class Teaching {

  private record News(int space, long hash) {}

  private final PartitionTable table;
  private final Spaces spaces;
  private final Counts counts;
  private final Holding holding;
  private final Meaning parent = new Meaning();
  private final Meaning child = new Meaning();
  private final Meaning said = new Meaning();

  Teaching(PartitionTable table, Spaces spaces, Counts counts) {
    this.table = table;
    this.spaces = spaces;
    this.counts = counts;
    holding = new Holding(table);
  }

  /**
   * Keeps what a hash means for a publisher.
   *
   * @param before what it meant for it so far
   * @param beforeIn where that was found
   * @return the space in which it means this now, {@link Spaces#NONE} = it can not be kept
   */
  int learn(
      long hash,
      Meaning meaning,
      Meaning before,
      int beforeIn,
      int own,
      int shared,
      int publisherRef,
      PrefixHasher hasher) {
    int to = teach(hash, meaning, before, beforeIn, own, shared, publisherRef);
    if (to != Spaces.NONE && table.orphans().size() > 0 && isNews(before, meaning)) {
      link(to, hash, hasher);
      table.blocks().find(to, hash);
    }
    return to;
  }

  private static boolean isNews(Meaning before, Meaning now) {
    return !before.isKnown() || !before.isSameAs(now) || !before.byDevice() && now.byDevice();
  }

  /** A hash has a meaning now. */
  private void link(int space, long hash, PrefixHasher hasher) {
    // Until somebody holds it, it is nowhere kept.
    table.blocks().keep();
    Deque<News> news = new ArrayDeque<>();
    news.add(new News(space, hash));
    while (!news.isEmpty()) {
      News next = news.remove();
      for (Orphan orphan : table.orphans().named(next.space(), next.hash())) {
        parent.lookUp(table.blocks(), next.space(), next.hash());
        resolve(orphan, parent, next.space());
      }
      for (Orphan orphan : table.orphans().childrenOf(next.space(), next.hash())) {
        if (orphan.hasLocal()) {
          parent.lookUp(table.blocks(), next.space(), next.hash());
          News linked = linkChild(orphan, next.hash(), hasher);
          if (linked != null) {
            news.add(linked);
          }
        }
      }
    }
  }

  /** Only what changed is news: hashes that name each other as parents would go round for ever. */
  private @Nullable News linkChild(Orphan orphan, long parentHash, PrefixHasher hasher) {
    OwnerState owner = table.owners().byId(orphan.ownerId());
    if (owner == null || owner.row().dead()) {
      return null;
    }
    child.follows(
        parent,
        false,
        parentHash,
        0,
        hasher,
        orphan.local(),
        orphan.extra(),
        isByDevice(owner, parent));
    if (!isBelieved(child, owner)) {
      return null;
    }
    SpaceRow row = table.tables().space(orphan.space());
    int publisher = owner.row().publisherRef();
    int shared = spaces.shared(row.tableRef(), row.namespace());
    int own = spaces.own(row.tableRef(), row.namespace(), publisher);
    int saidIn = spaces.lookUp(own, shared, orphan.hash(), said);
    int in = teach(orphan.hash(), child, said, saidIn, own, shared, publisher);
    if (in == Spaces.NONE) {
      return null;
    }
    table.blocks().keep();
    resolve(orphan, child, in);
    return new News(in, orphan.hash());
  }

  /** As {@link #learn}, without giving orphans their place. */
  private int teach(
      long hash,
      Meaning meaning,
      Meaning before,
      int beforeIn,
      int own,
      int shared,
      int publisher) {
    boolean outranks = before.isKnown() && !before.byDevice() && meaning.byDevice();
    if (before.isKnown() && before.isSameAs(meaning) && !outranks) {
      return beforeIn;
    }
    int to = !before.isKnown() ? own == Spaces.NONE ? shared : own : outranks ? beforeIn : own;
    if (to == Spaces.NONE) {
      counts.add(Outcome.HASH_DISAGREEMENT);
      SpaceRow row = table.tables().space(shared);
      to = spaces.createOwn(row.tableRef(), row.namespace(), publisher);
    }
    if (!meaning.teach(table.blocks(), to, hash)) {
      counts.add(Outcome.CONTEXT_LIMIT);
      return Spaces.NONE;
    }
    return to;
  }

  private static boolean isByDevice(OwnerState owner, Meaning parent) {
    return parent.byDevice()
        && !owner.row().pool()
        && Media.standard().tier(owner.row().medium()) == Media.Tier.DEVICE;
  }

  /** Whether blocks of an owner may have a meaning. */
  private boolean isBelieved(Meaning meaning, OwnerState owner) {
    return meaning.byDevice() || !table.publishers().get(owner.row().publisherRef()).device();
  }

  private void resolve(Orphan orphan, Meaning meaning, int in) {
    OwnerState owner = table.owners().byId(orphan.ownerId());
    if (owner == null || owner.row().dead() || !isBelieved(meaning, owner)) {
      return;
    }
    Holding block = holding.read(owner, orphan.hash(), orphan.group());
    if (block.isPresent() && !block.isResolved()) {
      block.resolve(in);
      block.write();
      counts.add(Outcome.LINKED);
    }
  }
}
