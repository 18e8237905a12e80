// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

import io.kvindex.model.event.SourceTraits;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Into how many objects of a store each block is cut. Immutable.
 *
 * @param sizes objects by dimension, each at least 1; a dimension that is not there has one
 */
public record Shards(Map<ShardDimension, Integer> sizes) {

  /** Most objects a block may have: one bit each. */
  public static final int MAX = SourceTraits.MAX_SHARDS;

  /**
   * @throws IllegalArgumentException if a block would have less than one or more than {@link #MAX}
   *     objects
   */
  public Shards {
    EnumMap<ShardDimension, Integer> copy = new EnumMap<>(ShardDimension.class);
    copy.putAll(sizes);
    long count = 1;
    for (int size : copy.values()) {
      if (size < 1) {
        throw new IllegalArgumentException("each dimension must be at least 1");
      }
      count *= Math.min(size, MAX + 1);
      if (count > MAX) {
        throw new IllegalArgumentException("a block may have " + MAX + " objects at most");
      }
    }
    sizes = Map.copyOf(copy);
  }

  /** Tensor parallel ranks only. */
  public static Shards of(int tp) {
    return new Shards(Map.of(ShardDimension.TP, tp));
  }

  /**
   * Reads sizes by name of the dimension.
   *
   * @throws IllegalArgumentException if a dimension is not known or the sizes can not be
   */
  public static Shards named(Map<String, Integer> byName) {
    Map<ShardDimension, Integer> sizes = new EnumMap<>(ShardDimension.class);
    byName.forEach(
        (name, size) -> sizes.put(ShardDimension.valueOf(name.toUpperCase(Locale.ROOT)), size));
    return new Shards(sizes);
  }

  /** Sizes by name, in the order of the dimensions. */
  public Map<String, Integer> byName() {
    Map<String, Integer> names = new LinkedHashMap<>();
    for (ShardDimension dimension : ShardDimension.values()) {
      Integer size = sizes.get(dimension);
      if (size != null) {
        names.put(dimension.wireName(), size);
      }
    }
    return names;
  }

  /** Objects along one dimension. */
  public int size(ShardDimension dimension) {
    return sizes.getOrDefault(dimension, 1);
  }

  /** Objects of a block, 1 to {@link #MAX}. */
  public int count() {
    int count = 1;
    for (int size : sizes.values()) {
      count *= size;
    }
    return count;
  }
}
