// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import io.kvindex.model.Media;
import io.kvindex.query.match.InstanceSet.Instance;
import io.kvindex.streams.index.Owner;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The oracle: a map of sets, and the conductor rule block by block, as its definition reads. Owners
 * are objects here, so nothing of slots, bitsets or reuse is shared with what it checks.
 */
final class NaiveIndex {

  /** An owner and whether it is still alive; identity is the object. */
  static final class Holder {
    final Owner owner;
    final String medium;
    boolean live = true;

    /** Numbers of an answer it counts for, see {@link #names}; 0 = not looked up yet. */
    private long counts;

    Holder(Owner owner) {
      this.owner = owner;
      this.medium = Media.standard().answerKey(owner.medium());
    }
  }

  private static final String LONGEST = "longest";

  private final Map<Long, Set<Holder>> blocks = new HashMap<>();

  /** Names of an answer's numbers. A set of them is a mask, by their order here. */
  private final List<String> names = new ArrayList<>(List.of(LONGEST));

  boolean add(long key, Holder holder) {
    return blocks.computeIfAbsent(key, k -> new HashSet<>(4)).add(holder);
  }

  boolean remove(long key, Holder holder) {
    Set<Holder> holders = blocks.get(key);
    if (holders == null || !holders.remove(holder)) {
      return false;
    }
    if (holders.isEmpty()) {
      blocks.remove(key);
    }
    return true;
  }

  boolean contains(long key, Holder holder) {
    return blocks.getOrDefault(key, Set.of()).contains(holder);
  }

  boolean held(long key) {
    return blocks.getOrDefault(key, Set.of()).stream().anyMatch(holder -> holder.live);
  }

  int size() {
    return blocks.size();
  }

  /** Numbers per instance, only those that are not 0. */
  List<Map<String, Integer>> count(List<Instance> instances, long[] prompt, long[] contexts) {
    int[][] rows = new int[instances.size()][Long.SIZE];
    Map<String, Integer> goingOn = new HashMap<>();
    for (int i = 0; i < instances.size(); i++) {
      goingOn.put(instances.get(i).instanceId(), i);
    }
    for (int block = 0; block < prompt.length && !goingOn.isEmpty(); block++) {
      Map<String, Long> own = new HashMap<>();
      Map<String, Long> pools = new HashMap<>();
      for (long context : contexts) {
        for (Holder holder : blocks.getOrDefault(prompt[block] ^ context, Set.of())) {
          if (holder.live) {
            (holder.owner.pool() ? pools : own)
                .merge(holder.owner.instanceId(), counts(holder), (one, other) -> one | other);
          }
        }
      }
      goingOn.values().removeIf(i -> !step(instances.get(i), rows[i], own, pools));
    }
    return Arrays.stream(rows).map(this::named).toList();
  }

  private long counts(Holder holder) {
    if (holder.counts == 0) {
      holder.counts = bit(holder.medium);
      if (!holder.owner.pool()) {
        holder.counts |= bit("DP" + holder.owner.rank());
      }
    }
    return holder.counts;
  }

  private long bit(String name) {
    if (!names.contains(name)) {
      names.add(name);
    }
    return 1L << names.indexOf(name);
  }

  private static boolean step(
      Instance instance, int[] row, Map<String, Long> own, Map<String, Long> pools) {
    long holding = own.getOrDefault(instance.instanceId(), 0L);
    for (Map.Entry<String, Long> pool : pools.entrySet()) {
      if (instance.pools() == null || instance.pools().contains(pool.getKey())) {
        holding |= pool.getValue();
      }
    }
    if (holding == 0) {
      return false;
    }
    row[0]++;
    for (long left = holding; left != 0; left &= left - 1) {
      row[Long.numberOfTrailingZeros(left)]++;
    }
    return true;
  }

  private Map<String, Integer> named(int[] row) {
    Map<String, Integer> named = new HashMap<>();
    for (int i = 0; i < names.size(); i++) {
      if (row[i] > 0) {
        named.put(names.get(i), row[i]);
      }
    }
    return named;
  }
}
