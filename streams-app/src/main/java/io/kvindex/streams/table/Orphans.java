// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.row.Orphan;
import java.util.ArrayList;
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

  private record Block(int ownerId, long hash, int group) {}

  private final Map<Block, Orphan> all = new HashMap<>();
  private final Map<Name, TreeMap<Long, Orphan>> byAwaited = new HashMap<>();
  private final Map<Name, TreeMap<Long, Orphan>> byHash = new HashMap<>();
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
    remove(orphan.ownerId(), orphan.hash(), orphan.group());
    all.put(new Block(orphan.ownerId(), orphan.hash(), orphan.group()), orphan);
    of(byAwaited, orphan.space(), orphan.awaited()).put(orphan.order(), orphan);
    of(byHash, orphan.space(), orphan.hash()).put(orphan.order(), orphan);
    next = Math.max(next, orphan.order() + 1);
    size = all.size();
  }

  /** It waits no more. */
  void remove(int ownerId, long hash, int group) {
    Orphan orphan = all.remove(new Block(ownerId, hash, group));
    if (orphan != null) {
      remove(byAwaited, new Name(orphan.space(), orphan.awaited()), orphan.order());
      remove(byHash, new Name(orphan.space(), hash), orphan.order());
      size = all.size();
    }
  }

  private static TreeMap<Long, Orphan> of(
      Map<Name, TreeMap<Long, Orphan>> by, int space, long hash) {
    return by.computeIfAbsent(new Name(space, hash), name -> new TreeMap<>());
  }

  private static void remove(Map<Name, TreeMap<Long, Orphan>> by, Name name, long order) {
    by.computeIfPresent(
        name,
        (n, waiting) -> {
          waiting.remove(order);
          return waiting.isEmpty() ? null : waiting;
        });
  }

  /** The block of an owner if it waits, else null. */
  public @Nullable Orphan get(int ownerId, long hash, int group) {
    return all.isEmpty() ? null : all.get(new Block(ownerId, hash, group));
  }

  /** Orphans the block with that hash is the parent of. */
  public List<Orphan> childrenOf(int space, long hash) {
    return list(byAwaited, space, hash);
  }

  /** Orphans that are the block with that hash. */
  public List<Orphan> named(int space, long hash) {
    return list(byHash, space, hash);
  }

  private List<Orphan> list(Map<Name, TreeMap<Long, Orphan>> by, int space, long hash) {
    TreeMap<Long, Orphan> found = all.isEmpty() ? null : by.get(new Name(space, hash));
    return found == null ? List.of() : new ArrayList<>(found.values());
  }

  /** Those of an owner, in their order. */
  public List<Orphan> of(int ownerId) {
    return all.values().stream()
        .filter(orphan -> orphan.ownerId() == ownerId)
        .sorted((one, other) -> Long.compare(one.order(), other.order()))
        .toList();
  }

  /** Any thread: how many wait. */
  public int size() {
    return size;
  }
}
