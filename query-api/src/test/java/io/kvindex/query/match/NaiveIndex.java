// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import io.kvindex.model.Media;
import io.kvindex.query.match.InstanceSet.Instance;
import io.kvindex.streams.index.Owner;
import java.util.ArrayList;
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

    Holder(Owner owner) {
      this.owner = owner;
      this.medium = Media.standard().answerKey(owner.medium());
    }
  }

  private final Map<Long, Set<Holder>> blocks = new HashMap<>();

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
    List<Map<String, Integer>> rows = new ArrayList<>();
    Map<String, Integer> goingOn = new HashMap<>();
    for (int i = 0; i < instances.size(); i++) {
      rows.add(new HashMap<>());
      goingOn.put(instances.get(i).instanceId(), i);
    }
    for (int block = 0; block < prompt.length && !goingOn.isEmpty(); block++) {
      Map<String, Set<String>> own = new HashMap<>();
      Map<String, Set<String>> pools = new HashMap<>();
      for (long context : contexts) {
        for (Holder holder : blocks.getOrDefault(prompt[block] ^ context, Set.of())) {
          if (holder.live) {
            Set<String> names =
                (holder.owner.pool() ? pools : own)
                    .computeIfAbsent(holder.owner.instanceId(), id -> new HashSet<>(4));
            names.add(holder.medium);
            if (!holder.owner.pool()) {
              names.add("DP" + holder.owner.rank());
            }
          }
        }
      }
      goingOn.values().removeIf(i -> !step(instances.get(i), rows.get(i), own, pools));
    }
    return rows;
  }

  private static boolean step(
      Instance instance,
      Map<String, Integer> row,
      Map<String, Set<String>> own,
      Map<String, Set<String>> pools) {
    Set<String> holding = new HashSet<>(own.getOrDefault(instance.instanceId(), Set.of()));
    pools.forEach(
        (pool, media) -> {
          if (instance.pools() == null || instance.pools().contains(pool)) {
            holding.addAll(media);
          }
        });
    if (holding.isEmpty()) {
      return false;
    }
    row.merge("longest", 1, Integer::sum);
    holding.forEach(name -> row.merge(name, 1, Integer::sum));
    return true;
  }
}
