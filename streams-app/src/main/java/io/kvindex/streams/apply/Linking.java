// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.model.Media;
import io.kvindex.streams.row.ContentRow;
import io.kvindex.streams.table.Orphan;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Gives orphans their place when the block they wait for becomes known, and those that wait for
 * them in turn.
 */
final class Linking {

  private record Taught(int space, long hash, ContentRow content) {}

  private final PartitionTable table;
  private final RowBatch batch;
  private final Contents contents;
  private final Meanings meanings;
  private final Counts counts;

  Linking(
      PartitionTable table, RowBatch batch, Contents contents, Meanings meanings, Counts counts) {
    this.table = table;
    this.batch = batch;
    this.contents = contents;
    this.meanings = meanings;
    this.counts = counts;
  }

  /** A hash has a meaning now. */
  void taught(int space, long hash, ContentRow content, PrefixHasher hasher) {
    if (table.orphans().size() == 0) {
      return;
    }
    Deque<Taught> news = new ArrayDeque<>();
    news.add(new Taught(space, hash, content));
    while (!news.isEmpty()) {
      Taught next = news.remove();
      for (Orphan orphan : table.orphans().named(next.space(), next.hash())) {
        resolve(orphan, next.content());
      }
      for (Orphan orphan : table.orphans().childrenOf(next.space(), next.hash())) {
        if (orphan.row().hasLocal()) {
          link(orphan, next, hasher, news);
        }
      }
    }
  }

  private void link(Orphan orphan, Taught parent, PrefixHasher hasher, Deque<Taught> news) {
    ContentRow meaning =
        Prefix.after(parent.hash(), parent.content())
            .next(hasher, orphan.row().local(), orphan.row().extra(), isByDevice(orphan, parent));
    // Only what changed is news: hashes that name each other as parents would go round for ever.
    if (resolve(orphan, meaning)) {
      ContentRow known = contents.get(orphan.space(), orphan.child());
      if (known == null || !known.byDevice() && meaning.byDevice()) {
        meanings.put(orphan.space(), orphan.child(), meaning);
      }
      news.add(new Taught(orphan.space(), orphan.child(), meaning));
    }
  }

  private boolean isByDevice(Orphan orphan, Taught parent) {
    OwnerState owner = table.owners().byId(orphan.ownerId());
    return parent.content().byDevice()
        && owner != null
        && !owner.row().pool()
        && Media.standard().tier(owner.row().medium()) == Media.Tier.DEVICE;
  }

  private boolean resolve(Orphan orphan, ContentRow content) {
    OwnerState owner = table.owners().byId(orphan.ownerId());
    // How far a dead owner is swept depends on the wall clock: it must not teach anything.
    if (owner == null
        || owner.row().dead()
        || meanings.believed(content, owner.row().publisherRef()) == null) {
      return false;
    }
    BlockChange change = batch.blocks().of(owner, orphan.child(), orphan.group());
    if (!change.present() || change.isResolved()) {
      return false;
    }
    change.resolve(orphan.space(), content);
    counts.add(Outcome.LINKED);
    return true;
  }
}
