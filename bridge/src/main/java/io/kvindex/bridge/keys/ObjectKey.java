// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.keys;

import io.kvindex.model.registration.ShardDimension;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the key of an object tells of the block it holds.
 *
 * @param use whether the object is of use here
 * @param hash engine hash of the block; 0 unless {@code use} is {@link Use#BLOCK}
 * @param group number of the attention group it is labelled with, null = with none
 * @param part which part of the block, by dimension; empty = not told
 * @param whole whether it is known to be all of the block
 */
public record ObjectKey(
    Use use, long hash, @Nullable Integer group, Map<ShardDimension, Integer> part, boolean whole) {

  /** What can be done with an object. */
  public enum Use {
    /** It holds (part of) a block of the registered model. */
    BLOCK,
    /** It is of another model. */
    OTHER_MODEL,
    /** It is of states or helper caches that are not indexed. */
    OTHER_GROUP
  }

  static final ObjectKey OTHER_MODEL = new ObjectKey(Use.OTHER_MODEL, 0, null, Map.of(), false);
  static final ObjectKey OTHER_GROUP = new ObjectKey(Use.OTHER_GROUP, 0, null, Map.of(), false);

  public ObjectKey {
    part = Map.copyOf(part);
  }

  /** An object that is all of a block. */
  public static ObjectKey whole(long hash) {
    return new ObjectKey(Use.BLOCK, hash, null, Map.of(), true);
  }

  static ObjectKey part(long hash, EnumMap<ShardDimension, Integer> part) {
    return new ObjectKey(Use.BLOCK, hash, null, part, false);
  }

  /** The same object under a hash that was told. */
  public ObjectKey withHash(long told) {
    return new ObjectKey(use, told, group, part, whole);
  }

  ObjectKey withGroup(@Nullable Integer label) {
    return new ObjectKey(use, hash, label, part, whole);
  }
}
