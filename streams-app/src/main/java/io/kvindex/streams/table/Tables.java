// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.row.SpaceRow;
import io.kvindex.streams.row.TableRow;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The tables of a partition and their spaces: rows {@code T} and {@code N}. */
public final class Tables {

  private final Epochs epochs;
  private final Map<TableId, PrefixIndex> indexes = new ConcurrentHashMap<>();
  private final Map<Integer, TableId> tables = new HashMap<>();

  /** Read by any thread. */
  private final Map<TableId, Integer> tableRefs = new ConcurrentHashMap<>();

  /** By reference: asked for with every block. */
  private @Nullable SpaceRow[] spaces = new SpaceRow[8];

  /** By reference, null = not asked for yet. */
  private @Nullable NameKeys[] nameKeys = new NameKeys[8];

  private final Map<SpaceRow, Integer> spaceRefs = new HashMap<>();

  Tables(Epochs epochs) {
    this.epochs = epochs;
  }

  void foldTable(int ref, TableRow row) {
    tables.put(ref, row.table());
    tableRefs.put(row.table(), ref);
    indexes.computeIfAbsent(row.table(), t -> new PrefixIndex(epochs));
  }

  void foldSpace(int ref, SpaceRow row) {
    if (ref >= spaces.length) {
      spaces = Arrays.copyOf(spaces, Math.max(ref + 1, 2 * spaces.length));
    }
    spaces[ref] = row;
    spaceRefs.put(row, ref);
  }

  /**
   * Under which keys queries by hashes look in a space.
   *
   * @param byName whether they bring names that stand for one block each
   * @param context what is xored into a name
   */
  private record NameKeys(boolean byName, long context) {}

  /**
   * The key under which queries by hashes look for a block. The same as its lookup key where its
   * name is the hash of its prefix, and where names alone do not say which adapter they are of.
   */
  long nameKey(int space, long engineHash, long lookupKey) {
    if (space >= nameKeys.length) {
      nameKeys = Arrays.copyOf(nameKeys, Math.max(space + 1, 2 * nameKeys.length));
    }
    NameKeys keys = nameKeys[space];
    if (keys == null) {
      SpaceRow row = space(space);
      HashProfile profile = table(row.tableRef()).hashProfile();
      boolean byName = profile.algorithm().isEngineNamed() && profile.algorithm().coversLora();
      keys = new NameKeys(byName, profile.context(null, row.namespace(), null));
      nameKeys[space] = keys;
    }
    return keys.byName() ? engineHash ^ keys.context() : lookupKey;
  }

  /** Any thread: indexes by table. */
  Map<TableId, PrefixIndex> indexes() {
    return indexes;
  }

  /** Reference of a table, null = not known yet. */
  public @Nullable Integer tableRef(TableId table) {
    return tableRefs.get(table);
  }

  /** Reference of a space, null = not known yet. */
  public @Nullable Integer spaceRef(SpaceRow space) {
    return spaceRefs.get(space);
  }

  /** The space of a reference found in a row. */
  public SpaceRow space(int ref) {
    return known(ref < spaces.length ? spaces[ref] : null, "space", ref);
  }

  /** The table of a reference found in a row. */
  public TableId table(int ref) {
    return known(tables.get(ref), "table", ref);
  }

  /** The index of a table of a reference found in a row. */
  public PrefixIndex index(int tableRef) {
    return known(indexes.get(table(tableRef)), "index", tableRef);
  }

  /** Whether any live owner holds the block with that key. */
  public boolean held(int space, long lookupKey) {
    return index(space(space).tableRef()).held(lookupKey);
  }

  /** A reference no table has. */
  public int nextTable() {
    return tables.size() + 1;
  }

  /** A reference no space has. */
  public int nextSpace() {
    return spaceRefs.size() + 1;
  }

  private static <T> T known(@Nullable T found, String what, int ref) {
    if (found == null) {
      throw new IllegalStateException("BUG: row names an unknown " + what + " " + ref);
    }
    return found;
  }
}
