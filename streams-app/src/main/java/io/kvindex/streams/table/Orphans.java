// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Resident blocks whose prefix is not known, in the order they began to wait. How many there may be
 * is bounded by whoever adds them. For the table's writer, except {@link #size}.
 */
public final class Orphans {

  private record Name(int space, long hash) {}

  private record Block(int ownerId, long hash, int group) {
    Block(Orphan orphan) {
      this(orphan.ownerId(), orphan.hash(), orphan.group());
    }
  }

  private final Map<Block, Orphan> all = new HashMap<>();

  /** By their own names and by those they wait for; in their order. */
  private final Map<Name, TreeMap<Long, Orphan>> byName = new HashMap<>();

  private long next;

  /** For the gauge, which another thread reads. */
  private volatile int size;

  Orphans() {}

  /** A number behind those of all that wait. */
  public long nextOrder() {
    return next;
  }

  /** Adds one, or takes it in place of what is known of the block. */
  void put(Orphan orphan) {
    remove(orphan);
    all.put(new Block(orphan), orphan);
    for (Name name : names(orphan)) {
      byName.computeIfAbsent(name, n -> new TreeMap<>()).put(orphan.order(), orphan);
    }
    next = Math.max(next, orphan.order() + 1);
    size = all.size();
  }

  /** It waits no more. */
  void remove(Orphan gone) {
    Orphan orphan = all.remove(new Block(gone));
    if (orphan != null) {
      for (Name name : names(orphan)) {
        byName.computeIfPresent(
            name,
            (n, waiting) -> {
              waiting.remove(orphan.order());
              return waiting.isEmpty() ? null : waiting;
            });
      }
      size = all.size();
    }
  }

  private static List<Name> names(Orphan orphan) {
    return List.of(
        new Name(orphan.space(), orphan.hash()), new Name(orphan.space(), orphan.awaited()));
  }

  /** The block of an owner if it waits, else null. */
  public @Nullable Orphan get(int ownerId, long hash, int group) {
    return all.isEmpty() ? null : all.get(new Block(ownerId, hash, group));
  }

  /** Orphans that are the block with that hash, or that it is the parent of. */
  public List<Orphan> of(int space, long hash) {
    TreeMap<Long, Orphan> found = all.isEmpty() ? null : byName.get(new Name(space, hash));
    return found == null ? List.of() : new ArrayList<>(found.values());
  }

  /** Those of an owner. */
  public List<Orphan> of(int ownerId) {
    return all.values().stream()
        .filter(orphan -> orphan.ownerId() == ownerId)
        .sorted(Comparator.comparingLong(Orphan::order))
        .toList();
  }

  /** All, in no order. */
  Collection<Orphan> all() {
    return all.values();
  }

  /** Any thread: how many wait. */
  public int size() {
    return size;
  }
}
