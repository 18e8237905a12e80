// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.Parent;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.event.Place;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What one publisher holds by a dump. For one thread at a time. */
final class PeerBlocks {

  /**
   * Whose blocks they are.
   *
   * @param profile how their prefixes are hashed, null = as Dynamo does
   */
  record Source(
      PublisherId publisher, String model, int blockSize, @Nullable HashProfile profile) {}

  /** A cache of the publisher and what its blocks belong to. */
  record Where(String medium, int rank, StatedContext context) {}

  private final Map<Where, BlockRuns> runs = new LinkedHashMap<>();
  private long blocks;

  long blocks() {
    return blocks;
  }

  /**
   * Adds a run of blocks to a cache.
   *
   * @param pairs engine hash and local hash of each block in turn
   */
  void add(Where where, Parent parent, long[] pairs, int count) {
    runs.computeIfAbsent(where, w -> new BlockRuns()).add(parent, pairs, count);
    blocks += count;
  }

  /** Takes back what a rank holds; how many blocks that were. */
  long remove(int rank) {
    long before = blocks;
    runs.forEach((where, some) -> blocks -= where.rank() == rank ? some.blocks() : 0);
    runs.keySet().removeIf(where -> where.rank() == rank);
    return before - blocks;
  }

  /** Tells all blocks as events of an import. */
  void stored(boolean tokens, Consumer<Stored> to) {
    runs.forEach(
        (where, some) ->
            some.stored(
                PeerImport.place(where.medium(), where.rank()), where.context(), tokens, to));
  }

  /**
   * Runs of blocks one after the other in one array: a block takes 16 bytes, a run 16 more. A run
   * that goes on where the last one ended becomes part of it.
   */
  private static final class BlockRuns {

    private static final long HAS_PARENT = 1;

    /** Blocks of an event made of them. */
    private static final int LONGEST = 4_096;

    private long[] data = new long[64];
    private int size;
    private int lastRun = -1;
    private int blocks;

    int blocks() {
      return blocks;
    }

    void add(Parent parent, long[] pairs, int count) {
      boolean child = parent.kind() == Parent.Kind.HASH;
      ensure(2 + 2 * count);
      if (child && lastRun >= 0 && data[size - 2] == parent.hash()) {
        data[lastRun] += (long) count << 1;
      } else {
        lastRun = size;
        data[size++] = (long) count << 1 | (child ? HAS_PARENT : 0);
        data[size++] = parent.hash();
      }
      System.arraycopy(pairs, 0, data, size, 2 * count);
      size += 2 * count;
      blocks += count;
    }

    private void ensure(int more) {
      if (size + more > data.length) {
        data = Arrays.copyOf(data, Math.max(size + more, data.length + data.length / 2));
      }
    }

    /**
     * Tells the runs as events, long ones in pieces.
     *
     * @param tokens whether local hashes are said
     */
    void stored(Place place, StatedContext context, boolean tokens, Consumer<Stored> to) {
      int at = 0;
      while (at < size) {
        int count = (int) (data[at] >>> 1);
        boolean child = (data[at] & HAS_PARENT) != 0;
        Parent parent = child ? Parent.of(data[at + 1]) : Parent.ROOT;
        at += 2;
        for (int done = 0; done < count; done += LONGEST) {
          int some = Math.min(LONGEST, count - done);
          to.accept(
              new Stored(
                  place,
                  context,
                  parent,
                  hashes(at, some),
                  tokens ? hashes(at + 1, some) : Hashes.EMPTY,
                  Hashes.EMPTY));
          at += 2 * some;
          parent = Parent.of(data[at - 2]);
        }
      }
    }

    private Hashes hashes(int from, int count) {
      long[] values = new long[count];
      for (int i = 0; i < count; i++) {
        values[i] = data[from + 2 * i];
      }
      return Hashes.of(values);
    }
  }
}
