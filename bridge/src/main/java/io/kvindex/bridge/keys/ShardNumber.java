// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.keys;

import io.kvindex.model.registration.ShardDimension;
import io.kvindex.model.registration.Shards;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Numbers the objects of a block from 0 on, those of one attention group after those of another.
 * Immutable; safe for all threads.
 */
public final class ShardNumber {

  /** What does not go with the declared sizes. */
  public static final int MISFIT = -1;

  /** What a pool's only group is labelled with. */
  private static final List<Integer> FIRST_GROUP = List.of(0);

  private final @Nullable Shards declared;
  private final boolean groupsDeclared;
  private final List<Integer> groups;

  /**
   * @param declared objects a block in each group, null = not told: then every object counts for
   *     all of them
   * @param groups attention groups whose objects a block needs, null = not told: then group 0 is
   *     taken for the only one, as keys do not tell kinds of groups
   */
  public ShardNumber(@Nullable Shards declared, @Nullable List<Integer> groups) {
    this.declared = declared;
    this.groupsDeclared = groups != null;
    this.groups = groups == null ? FIRST_GROUP : List.copyOf(groups);
  }

  /** Whether a block needs that object, as far as its attention group goes. */
  public boolean isIndexed(ObjectKey key) {
    return key.group() == null || groups.contains(key.group());
  }

  /** Whether nobody said that its attention group is one that needs every block. */
  public boolean isGroupGuess(ObjectKey key) {
    return key.group() != null && !groupsDeclared;
  }

  /** Whether one object of a block is taken for all of it. */
  public boolean isGuess(ObjectKey key) {
    return !key.whole()
        && (declared == null
            || key.part().containsKey(ShardDimension.KV)
                && !declared.sizes().containsKey(ShardDimension.KV));
  }

  /**
   * The object's number: its ranks as digits, in the order of the dimensions, behind its group.
   *
   * @param key of an object whose group is indexed
   * @return {@link #MISFIT} if it states a rank beyond what is declared, or lacks one, or the group
   */
  public int of(ObjectKey key) {
    int shard = inGroup(key);
    Integer group = key.group();
    if (shard == MISFIT || groups.size() == 1) {
      return shard;
    }
    int perGroup = declared == null ? 1 : declared.count();
    return group == null ? MISFIT : groups.indexOf(group) * perGroup + shard;
  }

  private int inGroup(ObjectKey key) {
    if (declared == null) {
      return 0;
    } else if (key.whole()) {
      return declared.count() == 1 ? 0 : MISFIT;
    }
    Map<ShardDimension, Integer> part = readAsDeclared(key.part(), declared);
    int number = 0;
    for (ShardDimension dimension : ShardDimension.values()) {
      int size = declared.size(dimension);
      Integer rank = part.get(dimension);
      boolean unasked = dimension == ShardDimension.KV && size == 1;
      if (rank == null ? size > 1 : rank >= size && !unasked) {
        return MISFIT;
      }
      number = number * size + (rank == null || unasked ? 0 : rank);
    }
    return number;
  }

  /** HiCache writes the pipeline rank alone where the model has one object a page. */
  private static Map<ShardDimension, Integer> readAsDeclared(
      Map<ShardDimension, Integer> part, Shards declared) {
    boolean alone = part.size() <= 2 && part.containsKey(ShardDimension.TP);
    boolean others = part.size() == 2 && !part.containsKey(ShardDimension.KV);
    if (!alone
        || others
        || declared.size(ShardDimension.TP) > 1
        || declared.size(ShardDimension.PP) == 1) {
      return part;
    }
    Map<ShardDimension, Integer> read = new EnumMap<>(part);
    Integer rank = read.remove(ShardDimension.TP);
    read.put(ShardDimension.PP, rank == null ? 0 : rank);
    return read;
  }
}
