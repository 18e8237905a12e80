// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.row.BlockRow;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the index in step with the residency rows {@code B}: a bit is set while the owner has a
 * resolved row for it, in every attention group its publisher uses. Where queries by hashes bring
 * engines' names, a block is found under its name, too, though tokens told its prefix.
 */
public final class Residency {

  /** Reads rows as they are now, those of the change being folded included. */
  interface Rows {
    byte @Nullable [] get(Bytes key);

    KeyValueIterator<Bytes, byte[]> range(Bytes from, Bytes to);
  }

  private record Bit(int ownerId, long lookupKey) {}

  private final Rows rows;
  private final Publishers publishers;
  private final Tables tables;

  /** Rows beyond the first that ask for the same bit: one prefix under several engine hashes. */
  private final Map<Bit, Integer> aliases = new HashMap<>();

  Residency(Rows rows, Publishers publishers, Tables tables) {
    this.rows = rows;
    this.publishers = publishers;
    this.tables = tables;
  }

  /** Follows the change of one row; the row itself is written already. */
  public void fold(
      OwnerState owner,
      long engineHash,
      int group,
      @Nullable BlockRow before,
      @Nullable BlockRow after) {
    BlockRow was = resident(before);
    BlockRow is = resident(after);
    owner.addUndecided(undecided(after) - undecided(before));
    if (!owner.indexed() || was != null && is != null && was.lookupKey() == is.lookupKey()) {
      return;
    }
    PublisherRow publisher = publishers.get(owner.row().publisherRef());
    if (publisher.hasSeveralGroups()) {
      foldGrouped(owner, engineHash, group, publisher.groups(), was, is);
      return;
    }
    if (was != null) {
      hideName(owner, engineHash, was);
      release(owner, was.lookupKey());
    }
    if (is != null && !show(owner, engineHash, is)) {
      aliases.merge(new Bit(owner.id(), is.lookupKey()), 1, Integer::sum);
    }
  }

  private static @Nullable BlockRow resident(@Nullable BlockRow row) {
    return row != null && row.isResident() ? row : null;
  }

  private static int undecided(@Nullable BlockRow row) {
    return row != null && row.copies() == 0 ? 1 : 0;
  }

  /** Whether the owner had nothing of that prefix before. */
  private boolean show(OwnerState owner, long engineHash, BlockRow row) {
    long name = tables.nameKey(row.space(), engineHash, row.lookupKey());
    if (name != row.lookupKey()) {
      owner.index().addFurther(name, owner.slot());
    }
    return owner.index().add(row.lookupKey(), owner.slot());
  }

  private void hideName(OwnerState owner, long engineHash, BlockRow row) {
    long name = tables.nameKey(row.space(), engineHash, row.lookupKey());
    if (name != row.lookupKey()) {
      owner.index().removeFurther(name, owner.slot());
    }
  }

  private void release(OwnerState owner, long lookupKey) {
    if (!aliases.isEmpty()) {
      Bit bit = new Bit(owner.id(), lookupKey);
      if (aliases.containsKey(bit)) {
        aliases.computeIfPresent(bit, (b, more) -> more == 1 ? null : more - 1);
        return;
      }
    }
    owner.index().remove(lookupKey, owner.slot());
  }

  private void foldGrouped(
      OwnerState owner,
      long engineHash,
      int group,
      long groups,
      @Nullable BlockRow before,
      @Nullable BlockRow after) {
    if (before != null) {
      hideName(owner, engineHash, before);
      owner.index().remove(before.lookupKey(), owner.slot());
    }
    // Of rows that come together the first finds all of them there, the others its bit.
    if (after != null && !owner.holds(after.lookupKey())) {
      long others = groups & ~(1L << group);
      if (everyGroupHolds(owner, engineHash, others, after.lookupKey())) {
        show(owner, engineHash, after);
      }
    }
  }

  /** From the highest group down: they mostly come in ascending order, so that one read tells. */
  private boolean everyGroupHolds(OwnerState owner, long engineHash, long groups, long lookupKey) {
    for (long left = groups; left != 0; left ^= Long.highestOneBit(left)) {
      int group = Long.SIZE - 1 - Long.numberOfLeadingZeros(left);
      byte[] value = rows.get(RowKeys.block(owner.id(), engineHash, group));
      BlockRow row = value == null ? null : BlockRow.decode(value);
      if (row == null || !row.isResident() || row.lookupKey() != lookupKey) {
        return false;
      }
    }
    return true;
  }

  /** Folds all rows of an owner again, some of which were folded under other groups. */
  void reload(OwnerState owner) {
    hide(owner);
    load(owner);
  }

  /** Takes all blocks of an owner out of the index. */
  void hide(OwnerState owner) {
    Bytes from = RowKeys.ofId(RowKind.BLOCK, owner.id());
    Bytes to = RowKeys.ofId(RowKind.BLOCK, owner.id() + 1);
    try (KeyValueIterator<Bytes, byte[]> all = rows.range(from, to)) {
      while (all.hasNext()) {
        KeyValue<Bytes, byte[]> next = all.next();
        BlockRow row = BlockRow.decode(next.value);
        if (row.isResident()) {
          hideName(owner, RowKeys.hash(next.key.get()), row);
          owner.index().remove(row.lookupKey(), owner.slot());
        }
        owner.addUndecided(-undecided(row));
      }
    }
    aliases.keySet().removeIf(bit -> bit.ownerId() == owner.id());
  }

  /** Folds all rows of an owner none of whose rows was folded yet. */
  void load(OwnerState owner) {
    Bytes from = RowKeys.ofId(RowKind.BLOCK, owner.id());
    Bytes to = RowKeys.ofId(RowKind.BLOCK, owner.id() + 1);
    try (KeyValueIterator<Bytes, byte[]> all = rows.range(from, to)) {
      while (all.hasNext()) {
        KeyValue<Bytes, byte[]> next = all.next();
        byte[] key = next.key.get();
        BlockRow row = BlockRow.decode(next.value);
        fold(owner, RowKeys.hash(key), RowKeys.blockGroup(key), null, row);
      }
    }
  }

  /** The owner's rows are gone: so are its aliases. */
  void forget(int ownerId) {
    if (!aliases.isEmpty()) {
      aliases.keySet().removeIf(bit -> bit.ownerId() == ownerId);
    }
  }
}
