// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.row.OrphanRow;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Resident blocks whose prefix is not known: rows {@code U}, all of them in memory. How many there
 * may be is bounded by whoever writes the rows.
 */
public final class Orphans {

  private record Name(int space, long hash) {}

  private record Key(int space, long child, int ownerId, int group) {}

  private final Map<Key, Orphan> all = new HashMap<>();
  private final Map<Name, Map<Key, Orphan>> byAwaited = new HashMap<>();
  private final Map<Name, Map<Key, Orphan>> byChild = new HashMap<>();

  /** For the gauge, which another thread reads. */
  private volatile int size;

  Orphans() {}

  void fold(int space, long child, int ownerId, int group, @Nullable OrphanRow row) {
    Key key = new Key(space, child, ownerId, group);
    Orphan before = all.remove(key);
    if (before != null) {
      unlink(byAwaited, new Name(space, before.row().awaited()), key);
      unlink(byChild, new Name(space, child), key);
    }
    if (row != null) {
      Orphan orphan = new Orphan(space, child, ownerId, group, row);
      all.put(key, orphan);
      byAwaited.computeIfAbsent(new Name(space, row.awaited()), n -> map()).put(key, orphan);
      byChild.computeIfAbsent(new Name(space, child), n -> map()).put(key, orphan);
    }
    size = all.size();
  }

  private static Map<Key, Orphan> map() {
    return new LinkedHashMap<>();
  }

  private static void unlink(Map<Name, Map<Key, Orphan>> by, Name name, Key key) {
    by.computeIfPresent(
        name,
        (n, orphans) -> {
          orphans.remove(key);
          return orphans.isEmpty() ? null : orphans;
        });
  }

  /** Orphans the block with that hash is the parent of. */
  public List<Orphan> childrenOf(int space, long hash) {
    return list(byAwaited, space, hash);
  }

  /** Orphans that are the block with that hash. */
  public List<Orphan> named(int space, long hash) {
    return list(byChild, space, hash);
  }

  private List<Orphan> list(Map<Name, Map<Key, Orphan>> by, int space, long hash) {
    if (all.isEmpty()) {
      return List.of();
    }
    Map<Key, Orphan> found = by.get(new Name(space, hash));
    return found == null ? List.of() : new ArrayList<>(found.values());
  }

  /** Whether that block of that owner waits. */
  public boolean has(int space, long child, int ownerId, int group) {
    return all.containsKey(new Key(space, child, ownerId, group));
  }

  /** Any thread: how many wait. */
  public int size() {
    return size;
  }
}
