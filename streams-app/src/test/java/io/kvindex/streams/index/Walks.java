// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import io.kvindex.model.Incarnation;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/** Short forms shared by the index tests. */
final class Walks {

  static final long[] PLAIN = {0};

  private Walks() {}

  static Owner owner(String instance) {
    return new Owner("default", instance, 0, 0, "GPU", false, null, Incarnation.NONE);
  }

  static BlockKeys keys(long... keys) {
    return (out, from, max) -> {
      int count = Math.min(max, keys.length - from);
      System.arraycopy(keys, from, out, 0, count);
      return count;
    };
  }

  /** One run of a walk. */
  record Run(int from, BitSet slots) {}

  /** Collects what a walk reports. */
  static class Runs implements RunVisitor {
    final List<Run> runs = new ArrayList<>();
    int end = -1;
    int words;

    @Override
    public void begin(OwnerView owners) {
      words = owners.words();
    }

    @Override
    public boolean change(int position, long[] ownerBits) {
      runs.add(new Run(position, BitSet.valueOf(java.util.Arrays.copyOf(ownerBits, words))));
      return true;
    }

    @Override
    public void end(int position) {
      end = position;
    }
  }

  static Runs walk(PrefixIndex index, long... keys) {
    return walkIn(index, PLAIN, keys);
  }

  static Runs walkIn(PrefixIndex index, long[] contexts, long... keys) {
    Runs runs = new Runs();
    new PrefixReader().walk(index, keys(keys), contexts, runs);
    return runs;
  }

  /** Whether the owner in {@code slot} holds the block, live or not. */
  static boolean contains(PrefixIndex index, long key, int slot) {
    long mixed = Segment.mix(key);
    int id = Segment.find(index.table().segmentOf(mixed), mixed, key);
    return id != OwnerSets.EMPTY && index.sets().get(id).contains(slot);
  }

  /** Whether any live owner holds the block. */
  static boolean held(PrefixIndex index, long key) {
    return walk(index, key).end > 0;
  }

  /** Whether dead owners have blocks that are not taken out yet. */
  static boolean isToSweep(Blocks.Table table) {
    return !(table.dying.isEmpty() && table.swept.isEmpty());
  }

  static BitSet slots(int... slots) {
    BitSet bits = new BitSet();
    for (int slot : slots) {
      bits.set(slot);
    }
    return bits;
  }
}
