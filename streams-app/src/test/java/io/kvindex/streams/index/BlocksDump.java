// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.LongStream;

/**
 * All of {@link Blocks} that decides an answer, now or later, as lines of text: slots are told by
 * what rows call them. Checks that the indexes say what the names say.
 */
public final class BlocksDump {

  private final Blocks blocks;
  private final List<String> lines = new ArrayList<>();
  private final TreeMap<String, String> names = new TreeMap<>();

  /** Names by how a table's slot holds a key, which is once in the index. */
  private final TreeMap<String, Integer> byKey = new TreeMap<>();

  private BlocksDump(Blocks blocks) {
    this.blocks = blocks;
  }

  /**
   * The lines.
   *
   * @param spaces refs of all spaces
   */
  public static List<String> of(Blocks blocks, Collection<Integer> spaces) {
    BlocksDump dump = new BlocksDump(blocks);
    spaces.forEach(dump::space);
    dump.names.forEach((name, what) -> dump.lines.add(name + " " + what));
    blocks.tables().forEach(dump::table);
    dump.lines.add("ring " + blocks.ring.head() + " to " + blocks.ring.tail());
    dump.lines.add("aliases " + dump.byKey.values().stream().filter(n -> n > 1).count());
    return dump.lines;
  }

  private void space(int ref) {
    Blocks.Space space = blocks.space(ref);
    for (long hash : space.names().range(0, 0, () -> true)) {
      blocks.find(ref, hash);
      names.put(ref + " " + Long.toHexString(hash), name(space));
    }
  }

  private String name(Blocks.Space space) {
    Blocks.Table table = space.table();
    long word = space.names().get(NameTable.WORD);
    long hash = space.names().get(NameTable.HASH);
    long key = blocks.key();
    int place = Blocks.place(word);
    StringBuilder holders = new StringBuilder();
    if (word < 0) {
      long[] words = blocks.set(space, word).words;
      long[] numbers =
          LongStream.range(0, 64L * words.length)
              .filter(slot -> (words[(int) slot >>> 6] & 1L << slot) != 0)
              .peek(slot -> checkIndexed(space, hash, key, (int) slot))
              .map(slot -> table.numbers[(int) slot])
              .sorted()
              .toArray();
      for (long number : numbers) {
        holders.append(' ').append(number(number));
        byKey.merge(space.table().hashCode() + " " + key + " " + number, 1, Integer::sum);
      }
    }
    return String.format(
        "key %x context %x depth %d local %x parent %x%s place %d held%s copies %s",
        key,
        blocks.context(),
        blocks.depth(),
        blocks.local(),
        blocks.parent(),
        blocks.byDevice() ? " device" : "",
        place,
        holders,
        counts(space.ref(), hash));
  }

  private static void checkIndexed(Blocks.Space space, long hash, long key, int slot) {
    PrefixIndex index = space.table().index;
    if (!Walks.contains(index, key, slot)
        || !Walks.contains(index, Blocks.nameKey(space, hash, key), slot)) {
      throw new AssertionError("the index lacks " + Long.toHexString(hash) + " in slot " + slot);
    }
  }

  private static String number(long number) {
    return Holder.idOf(number) + "." + Holder.partOf(number);
  }

  private String counts(int space, long hash) {
    long[] counts = blocks.counts.of(space, hash);
    List<String> all = new ArrayList<>();
    for (int i = 0; counts != null && i < counts.length; i += 2) {
      all.add(Long.toHexString(counts[i]) + "=" + Long.toHexString(counts[i + 1]));
    }
    return all.stream().sorted().toList().toString();
  }

  private void table(int ref) {
    Blocks.Table table = blocks.table(ref);
    lines.add("table " + ref + " spaces " + table.spaces + " dying " + numbers(table, table.dying));
    if (!table.swept.isEmpty()) {
      String swept = numbers(table, table.swept);
      lines.add("  sweeps " + swept + " to " + table.sweptTo + " of 2^" + table.sweepBits);
    }
    lines.add("  keys " + table.index.figures().blocks() + " owners " + live(table));
    lines.add("  sets " + table.index.sets().count());
    Arrays.stream(table.bySlot)
        .filter(Objects::nonNull)
        .distinct()
        .map(holder -> holder(table, holder))
        .sorted()
        .forEach(lines::add);
  }

  private static List<String> live(Blocks.Table table) {
    List<String> live = new ArrayList<>();
    for (int slot = 0; slot < table.bySlot.length; slot++) {
      if (table.index.owners().owner(slot) != null) {
        live.add(number(table.numbers[slot]));
      }
    }
    live.sort(null);
    return live;
  }

  private static String numbers(Blocks.Table table, List<Integer> slots) {
    return slots.stream().map(slot -> number(table.numbers[slot])).toList().toString();
  }

  private static String holder(Blocks.Table table, Holder holder) {
    StringBuilder line = new StringBuilder();
    line.append("  holder ").append(holder.id()).append(holder.isDead() ? " dead" : "");
    line.append(" parts ").append(holder.parts());
    line.append(" visible ").append(number(table.numbers[holder.visible()]));
    line.append(" has ").append(table.index.members(holder.visible()));
    if (!holder.isDead()) {
      line.append(" undecided ").append(holder.undecided());
    }
    for (int group = 0; group < holder.groupsEnd(); group++) {
      int slot = holder.slot(group);
      if (slot >= 0) {
        line.append(" group ").append(group).append(' ').append(number(table.numbers[slot]));
        line.append(" has ").append(table.index.members(slot));
      }
    }
    return line.toString();
  }
}
