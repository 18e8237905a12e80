// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.streams.index.Blocks;
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

  private final Blocks blocks;
  private final Map<TableId, PrefixIndex> indexes = new ConcurrentHashMap<>();
  private final Map<Integer, TableId> tables = new HashMap<>();

  /** Read by any thread. */
  private final Map<TableId, Integer> tableRefs = new ConcurrentHashMap<>();

  /** By reference: asked for with every block. */
  private @Nullable SpaceRow[] spaces = new SpaceRow[8];

  private final Map<SpaceRow, Integer> spaceRefs = new HashMap<>();

  Tables(Blocks blocks) {
    this.blocks = blocks;
  }

  void foldTable(int ref, TableRow row) {
    tables.put(ref, row.table());
    tableRefs.put(row.table(), ref);
    indexes.put(row.table(), blocks.addTable(ref));
  }

  void foldSpace(int ref, SpaceRow row) {
    if (ref >= spaces.length) {
      spaces = Arrays.copyOf(spaces, Math.max(ref + 1, 2 * spaces.length));
    }
    spaces[ref] = row;
    spaceRefs.put(row, ref);
    HashProfile profile = table(row.tableRef()).hashProfile();
    // Names alone do not say which adapter they are of where they do not cover it.
    boolean byName = profile.algorithm().isEngineNamed() && profile.algorithm().coversLora();
    blocks.addSpace(ref, row.tableRef(), byName, profile.context(null, row.namespace(), null));
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
