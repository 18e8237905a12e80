// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.hash.SeqHash;
import io.kvindex.streams.table.Orphan;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import io.kvindex.streams.table.SpaceRow;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Notes what a hash means, and gives orphans their place that waited for it, and those that wait
 * for them in turn. For the thread that owns the table.
 */
final class Teaching {

  private record News(int space, long hash) {}

  private final PartitionTable table;
  private final Counts counts;
  private final Spaces spaces;
  private final Holding holding;
  private final Meaning parent = new Meaning();
  private final Meaning child = new Meaning();
  private final Meaning said = new Meaning();

  Teaching(PartitionTable table, Counts counts) {
    this.table = table;
    this.counts = counts;
    spaces = new Spaces(table, counts);
    holding = new Holding(table);
  }

  /** As {@link Spaces#teach}, of the publisher of an event. */
  int learn(Spaces of, long hash, Meaning meaning, Meaning before, int beforeIn, SeqHash hasher) {
    int to = of.teach(hash, meaning, before, beforeIn);
    boolean news =
        !before.known || !before.isSameAs(meaning) || !before.byDevice && meaning.byDevice;
    if (to != Spaces.NONE && news && table.waiting().size() > 0) {
      link(to, hash, hasher);
      table.blocks().find(to, hash);
    }
    return to;
  }

  /** A hash has a meaning now. */
  private void link(int space, long hash, SeqHash hasher) {
    // Until somebody holds it, it is nowhere kept.
    table.blocks().keep();
    Deque<News> news = new ArrayDeque<>();
    news.add(new News(space, hash));
    while (!news.isEmpty()) {
      News next = news.remove();
      for (Orphan orphan : table.waiting().of(next.space(), next.hash())) {
        if (orphan.hash() == next.hash()) {
          parent.lookUp(table.blocks(), next.space(), next.hash());
          resolve(orphan, parent, next.space());
        }
      }
      for (Orphan orphan : table.waiting().of(next.space(), next.hash())) {
        if (orphan.hasLocal() && orphan.awaited() == next.hash()) {
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
  private @Nullable News linkChild(Orphan orphan, long parentHash, SeqHash hasher) {
    OwnerState owner = table.owners().byId(orphan.ownerId());
    if (owner == null || owner.holder().isDead()) {
      return null;
    }
    boolean surely = parent.byDevice && !owner.owner().pool() && CopyJudge.isOnDevice(owner);
    child.follows(parent, parentHash, hasher, orphan.local(), orphan.extra(), surely);
    if (!isBelieved(child, owner)) {
      return null;
    }
    SpaceRow space = table.spaces().get(orphan.space());
    spaces.of(space.tableRef(), space.namespace(), owner.publisher());
    int saidIn = spaces.lookUp(orphan.hash(), said);
    int in = spaces.teach(orphan.hash(), child, said, saidIn);
    if (in == Spaces.NONE) {
      return null;
    }
    table.blocks().keep();
    resolve(orphan, child, in);
    return new News(in, orphan.hash());
  }

  private boolean isBelieved(Meaning meaning, OwnerState owner) {
    return meaning.isBelieved(owner.publisher().device());
  }

  private void resolve(Orphan orphan, Meaning meaning, int in) {
    OwnerState owner = table.owners().byId(orphan.ownerId());
    if (owner == null || owner.holder().isDead() || !isBelieved(meaning, owner)) {
      return;
    }
    Holding block = holding.read(owner, orphan.hash(), orphan.group());
    if (block.isPresent() && !block.resolved) {
      block.resolve(in);
      block.write();
      counts.add(Outcome.LINKED);
    }
  }
}
