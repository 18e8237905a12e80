// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counts of a name's holders, where there is more to say than that each has it once: how many
 * copies they have, or how many names for one key. A name's counts are one array that never
 * changes, so that it may be handed to another thread. For the writer alone.
 */
final class RareCounts {

  /** What {@link #of} says where nothing else is said: once, if it is held at all. */
  static final long PLAIN = -1;

  private static final long[] NONE = {};

  private static final class Name {
    int space;
    long hash;

    Name at(int ofSpace, long ofHash) {
      space = ofSpace;
      hash = ofHash;
      return this;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Name name && name.space == space && name.hash == hash;
    }

    @Override
    public int hashCode() {
      return Long.hashCode(NameTable.mix(hash) + space);
    }
  }

  /** Pairs: the holder, and what is said of it. */
  private final Map<Name, long[]> all = new HashMap<>();

  /** What is looked for: used again, as each removal of a block looks. */
  private final Name probe = new Name();

  /** All counts of a name, null = none. */
  long @Nullable [] of(int space, long hash) {
    return all.isEmpty() ? null : all.get(probe.at(space, hash));
  }

  /** What is said of one holder of a name, {@link #PLAIN} = nothing. */
  long of(int space, long hash, long holder) {
    long[] counts = of(space, hash);
    for (int i = 0; counts != null && i < counts.length; i += 2) {
      if (counts[i] == holder) {
        return counts[i + 1];
      }
    }
    return PLAIN;
  }

  /**
   * @param count what to say of a holder, {@link #PLAIN} = nothing any more
   * @return whether the name has counts left
   */
  boolean set(int space, long hash, long holder, long count) {
    Name name = new Name().at(space, hash);
    long[] before = all.getOrDefault(name, NONE);
    int at = 0;
    while (at < before.length && before[at] != holder) {
      at += 2;
    }
    long[] after;
    if (count == PLAIN) {
      if (at == before.length) {
        return before.length > 0;
      }
      after = Arrays.copyOf(before, before.length - 2);
      System.arraycopy(before, at + 2, after, at, before.length - at - 2);
    } else {
      after = Arrays.copyOf(before, Math.max(before.length, at + 2));
      after[at] = holder;
      after[at + 1] = count;
    }
    if (after.length == 0) {
      all.remove(name);
    } else {
      all.put(name, after);
    }
    return after.length > 0;
  }

  /** All counts of a name that has none yet: pairs, one at least. */
  void restore(int space, long hash, long[] counts) {
    all.put(new Name().at(space, hash), counts);
  }

  /** Names that have any. */
  int size() {
    return all.size();
  }
}
