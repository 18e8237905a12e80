// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.dump;

import io.kvindex.model.Media;
import io.kvindex.model.TableId;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.row.ContentRow;
import io.kvindex.streams.row.OwnerRow;
import io.kvindex.streams.row.PublisherRow;
import io.kvindex.streams.row.RowKeys;
import io.kvindex.streams.row.RowKind;
import io.kvindex.streams.row.SpaceRow;
import io.kvindex.streams.row.TableRow;
import io.kvindex.streams.view.DumpFailedException;
import io.kvindex.streams.view.DumpVisitor;
import io.kvindex.streams.view.DumpVisitor.LeftOut;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongPredicate;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.jspecify.annotations.Nullable;

/**
 * One walk through the residency rows of a table, owner by owner, the device tier first. Pools and
 * blocks that expire are not in it. Memory is bounded by {@link BlockChunk}: an owner with more
 * blocks than fit is read several times, the first blocks of prompts first. For one thread, while
 * another writes the rows: what changes meanwhile may be seen or not.
 */
public final class TableDump {

  private final ReadOnlyKeyValueStore<Bytes, byte[]> rows;
  private final BooleanSupplier closed;
  private final int capacity;
  private final Map<Integer, PublisherRow> publishers = new HashMap<>();
  private final Map<Integer, SpaceRow> spaces = new HashMap<>();
  private final Map<SpaceRow, Integer> spaceRefs = new HashMap<>();

  /**
   * @param closed whether the rows must not be touched any more
   * @param capacity blocks held in memory at most
   */
  public TableDump(
      ReadOnlyKeyValueStore<Bytes, byte[]> rows, BooleanSupplier closed, int capacity) {
    this.rows = rows;
    this.closed = closed;
    this.capacity = capacity;
  }

  private record Holder(int id, OwnerRow row, PublisherRow publisher) {
    Owner owner() {
      return new Owner(
          publisher.publisher().tenantId(),
          publisher.publisher().instanceId(),
          publisher.publisher().dpRank(),
          row.rank(),
          row.medium(),
          row.pool(),
          row.backendId(),
          row.incarnation());
    }
  }

  /**
   * Tells all runs of a table.
   *
   * @param wanted contexts to tell, by their hash
   */
  public void run(TableId table, LongPredicate wanted, DumpVisitor visitor)
      throws IOException, DumpFailedException {
    try {
      Integer ref = tableRef(table);
      if (ref != null) {
        readDictionaries();
        for (Holder holder : holders(ref)) {
          dump(holder, wanted, visitor);
        }
      }
    } catch (InvalidStateStoreException e) {
      throw new DumpFailedException("the partition can not be read any more", e);
    }
  }

  private RowScan scan(byte kind) {
    return new RowScan(rows, closed, RowKeys.first(kind), RowKeys.first(kind + 1));
  }

  private @Nullable Integer tableRef(TableId table) {
    RowScan scan = scan(RowKind.TABLE);
    for (KeyValue<Bytes, byte[]> row = scan.next(); row != null; row = scan.next()) {
      if (TableRow.decode(row.value).table().equals(table)) {
        return RowKeys.id(row.key.get());
      }
    }
    return null;
  }

  private void readDictionaries() {
    RowScan scan = scan(RowKind.PUBLISHER);
    for (KeyValue<Bytes, byte[]> row = scan.next(); row != null; row = scan.next()) {
      publishers.put(RowKeys.id(row.key.get()), PublisherRow.decode(row.value));
    }
    scan = scan(RowKind.SPACE);
    for (KeyValue<Bytes, byte[]> row = scan.next(); row != null; row = scan.next()) {
      SpaceRow space = SpaceRow.decode(row.value);
      spaces.put(RowKeys.id(row.key.get()), space);
      spaceRefs.put(space, RowKeys.id(row.key.get()));
    }
  }

  /** Live owners, device tier first: lower tiers go on where it ends. */
  private List<Holder> holders(int tableRef) {
    List<Holder> holders = new ArrayList<>();
    RowScan scan = scan(RowKind.OWNER);
    for (KeyValue<Bytes, byte[]> row = scan.next(); row != null; row = scan.next()) {
      OwnerRow owner = OwnerRow.decode(row.value);
      PublisherRow publisher = publishers.get(owner.publisherRef());
      boolean told =
          owner.tableRef() == tableRef
              && !owner.dead()
              && !owner.pool()
              && owner.expiresAtMs() == OwnerRow.NEVER;
      if (told && publisher != null) {
        holders.add(new Holder(RowKeys.id(row.key.get()), owner, publisher));
      }
    }
    Media media = Media.standard();
    holders.sort(Comparator.comparing(holder -> media.tier(holder.row().medium())));
    return holders;
  }

  private void dump(Holder holder, LongPredicate wanted, DumpVisitor visitor) throws IOException {
    Owner owner = holder.owner();
    BlockChunk chunk = new BlockChunk(capacity);
    boolean first = true;
    do {
      ResidentBlocks blocks = blocks(holder);
      while (blocks.next()) {
        LeftOut problem = blocks.problem();
        ContentRow content = problem == null ? content(blocks) : null;
        if (content == null) {
          if (first) {
            visitor.leftOut(problem == null ? LeftOut.UNKNOWN_CONTENT : problem);
          }
        } else if (wanted.test(content.context())) {
          chunk.add(blocks.hash(), content);
          if (chunk.isFull() && !chunk.shrink()) {
            chunk.tell(owner, visitor);
          }
        }
      }
      chunk.tell(owner, visitor);
      first = false;
    } while (chunk.goOn());
  }

  private ResidentBlocks blocks(Holder holder) {
    return new ResidentBlocks(
        new RowScan(
            rows,
            closed,
            RowKeys.ofId(RowKind.BLOCK, holder.id()),
            RowKeys.ofId(RowKind.BLOCK, holder.id() + 1)),
        holder.publisher().groups());
  }

  /** Meaning of a resident block; its row names its publisher's space where all share one, too. */
  private @Nullable ContentRow content(ResidentBlocks block) {
    ContentRow found = content(block.space(), block);
    SpaceRow space = spaces.get(block.space());
    if (found != null || space == null || space.isShared()) {
      return found;
    }
    Integer shared =
        spaceRefs.get(new SpaceRow(space.tableRef(), space.namespace(), SpaceRow.SHARED));
    return shared == null ? null : content(shared, block);
  }

  private @Nullable ContentRow content(int space, ResidentBlocks block) {
    RowScan.requireOpen(closed);
    byte[] value = rows.get(RowKeys.ofHash(RowKind.CONTENT, space, block.hash()));
    ContentRow row = value == null ? null : ContentRow.decode(value);
    return row != null && row.lookupKey() == block.lookupKey() ? row : null;
  }
}
