// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.model.Media;
import io.kvindex.streams.row.ContentRow;
import io.kvindex.streams.row.OrphanRow;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.SpaceRow;
import io.kvindex.streams.table.OwnerState;
import io.kvindex.streams.table.PartitionTable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whose word about a hash counts. What an event of the device tier says of it wins over what a
 * lower tier says, whichever comes first; and a publisher that has announced blocks of its device
 * is believed about that tier only: what it holds elsewhere is attached by hash. For the thread
 * that owns the task.
 */
final class Meanings {

  private final PartitionTable table;
  private final RowBatch batch;
  private final Contents contents;
  private final Counts counts;
  private final Limits limits;

  Meanings(PartitionTable table, RowBatch batch, Contents contents, Counts counts, Limits limits) {
    this.table = table;
    this.batch = batch;
    this.contents = contents;
    this.counts = counts;
    this.limits = limits;
  }

  /**
   * A meaning if blocks of a publisher may have it, else null.
   *
   * @param said null = nobody said anything
   */
  @Nullable ContentRow believed(@Nullable ContentRow said, int publisherRef) {
    boolean counts =
        said != null && (said.byDevice() || !table.publishers().get(publisherRef).device());
    return counts ? said : null;
  }

  /**
   * Writes what a hash means. Blocks that had another meaning, which only a lower tier gave them,
   * get this one.
   */
  void put(int space, long hash, ContentRow content) {
    ContentRow former = contents.get(space, hash);
    contents.put(batch, space, hash, content);
    if (former != null && !former.byDevice() && !former.sameMeaning(content)) {
      contents.rewritten(space);
      for (OwnerState owner : table.owners().ofTable(table.tables().space(space).tableRef())) {
        PublisherRow publisher = table.publishers().get(owner.row().publisherRef());
        for (long left = publisher.groups(); left != 0; left &= left - 1) {
          BlockChange block = batch.blocks().of(owner, hash, Long.numberOfTrailingZeros(left));
          if (block.isKnown() && block.isResolved() && isMeaningIn(space, block)) {
            block.resolve(space, content);
          }
        }
      }
    }
  }

  /** Whether what the space says of a block's hash is what counts for the block. */
  private boolean isMeaningIn(int space, BlockChange block) {
    return block.space() == space
        || space == shared(block.space()) && contents.get(block.space(), block.engineHash) == null;
  }

  private int shared(int space) {
    SpaceRow own = table.tables().space(space);
    Integer shared =
        table.tables().spaceRef(new SpaceRow(own.tableRef(), own.namespace(), SpaceRow.SHARED));
    return shared == null ? space : shared;
  }

  private @Nullable ContentRow of(BlockChange block) {
    ContentRow own = contents.get(block.space(), block.engineHash);
    return own == null ? contents.get(shared(block.space()), block.engineHash) : own;
  }

  /**
   * A publisher announces a block of its device: from here on lower tiers are not believed. Blocks
   * it holds there already, by their word alone, leave the answers until the device has spoken of
   * them.
   */
  void describedByDevice(int publisherRef) {
    PublisherRow publisher = table.publishers().get(publisherRef);
    if (publisher.device()) {
      return;
    }
    batch.put(RowKeys.ofId(RowKind.PUBLISHER, publisherRef), publisher.withDevice().encode());
    for (OwnerState owner : List.copyOf(table.owners().live(publisherRef))) {
      if (Media.standard().tier(owner.row().medium()) != Media.Tier.DEVICE) {
        batch.blocks().forEach(owner, this::doubt);
      }
    }
  }

  private void doubt(BlockChange block) {
    ContentRow content = block.isResolved() ? of(block) : null;
    if (content == null || content.byDevice()) {
      return;
    }
    if (table.orphans().size() >= limits.orphans()) {
      counts.add(Outcome.ORPHAN_LIMIT);
      block.drop();
      return;
    }
    counts.add(Outcome.UNDESCRIBED);
    block.orphan(block.space());
    batch.put(
        RowKeys.orphan(block.space(), block.engineHash, block.owner.id(), block.group),
        new OrphanRow(block.engineHash, false, 0, 0).encode());
  }
}
