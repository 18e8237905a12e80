// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.keys;

import io.kvindex.model.registration.ShardDimension;
import io.kvindex.model.registration.Shards;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Numbers the objects of a block from 0 on. Immutable; safe for all threads. */
public final class ShardNumber {

  /** What does not go with the declared sizes. */
  public static final int MISFIT = -1;

  private final @Nullable Shards declared;

  /**
   * @param declared objects a block, null = not told: then every object is number 0
   */
  public ShardNumber(@Nullable Shards declared) {
    this.declared = declared;
  }

  /** Whether one object of a block is taken for all of it. */
  public boolean isGuess(ObjectKey key) {
    return !key.whole()
        && (declared == null
            || key.part().containsKey(ShardDimension.KV)
                && !declared.sizes().containsKey(ShardDimension.KV));
  }

  /**
   * The object's number: its ranks as digits, in the order of the dimensions.
   *
   * @return {@link #MISFIT} if it states a rank beyond what is declared, or lacks one
   */
  public int of(ObjectKey key) {
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
