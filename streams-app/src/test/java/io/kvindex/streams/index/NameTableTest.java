// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class NameTableTest {

  /** Ways engines number their blocks, and what a poor hash would do badly with. */
  enum Numbering {
    SEQUENTIAL(i -> i + 1),
    MULTIPLES(i -> i << 20),
    HIGH_ONLY(i -> i << 44),
    EQUAL_HIGH_BITS(i -> 0x7FFF_FFFF_0000_0000L | i),
    CLUSTERS(i -> (i >>> 6) * 0x1234_5678_9ABCL + (i & 63)),
    NEGATIVE(i -> -1 - i),
    RANDOM(i -> i * 0xD1B54A32D192ED03L);

    final LongUnaryOperator hash;

    Numbering(LongUnaryOperator hash) {
      this.hash = hash;
    }
  }

  private static final int MOST = 200_000;

  /** Depth and context in a word. */
  private static final long MEANING = Contents.MOST << Blocks.CONTEXT_AT;

  private final Contents contents = new Contents();
  private final NameTable table = new NameTable(contents);
  private final Map<Long, long[]> expected = new HashMap<>();

  @ParameterizedTest
  @EnumSource
  void shouldBeLikeAMap_whileItGrowsAndShrinksToNothing(Numbering numbering) {
    Random random = new Random(numbering.ordinal() + 1);
    List<Long> there = new ArrayList<>();
    for (int i = 0; i < MOST; i++) {
      long hash = numbering.hash.applyAsLong(i);
      insert(hash, random);
      there.add(hash);
      if (i % 3 == 0) {
        change(there.get(random.nextInt(there.size())), random);
      }
      if (i % 7 == 0) {
        removeOneOf(there, random);
      }
      assertThat(table.find(numbering.hash.applyAsLong(i + 1L))).isFalse();
    }
    checkAll(numbering);
    assertThat(table.bytes() / table.size()).as("bytes an entry").isLessThanOrEqualTo(56);
    while (!there.isEmpty()) {
      removeOneOf(there, random);
      if (there.size() % 5 == 0) {
        long hash = numbering.hash.applyAsLong(MOST + there.size());
        if (!expected.containsKey(hash)) {
          insert(hash, random);
          there.add(hash);
          removeOneOf(there, random);
        }
      }
      if (there.size() == MOST / 50) {
        checkAll(numbering);
      }
    }
    checkAll(numbering);
    assertThat(table.size()).isZero();
    assertThat(contents.size()).isZero();
    assertThat(table.bytes()).isLessThan(400_000);
    assertThat(contents.bytes()).isLessThan(1_000_000);
    insert(5, random);
    checkAll(numbering);
  }

  @Test
  void shouldBeLikeAMap_whenFewHashesComeAndGoAllTheTime() {
    Random random = new Random(3);
    for (int i = 0; i < 1_000_000; i++) {
      long hash = random.nextInt(2_000);
      assertThat(table.find(hash)).isEqualTo(expected.containsKey(hash));
      if (!expected.containsKey(hash)) {
        insert(hash, random);
      } else if (random.nextInt(3) == 0) {
        change(hash, random);
      } else {
        table.remove();
        expected.remove(hash);
      }
    }
    checkAll(Numbering.SEQUENTIAL);
  }

  @Test
  void shouldFindAll_whenHashesAreZeroOrExtreme() {
    Random random = new Random(4);
    for (long hash : new long[] {0, -1, 1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      assertThat(table.find(hash)).isFalse();
      insert(hash, random);
      assertThat(table.find(hash)).isTrue();
    }
    checkAll(Numbering.SEQUENTIAL);
  }

  @Test
  void shouldGiveEachHashOnceAndInTheSameOrder_howeverItWasFilled() {
    List<Long> hashes = new ArrayList<>();
    for (long i = 0; i < 30_000; i++) {
      hashes.add(i % 3 == 0 ? i : i * 0xD1B54A32D192ED03L);
    }
    NameTable once = new NameTable(new Contents());
    hashes.forEach(hash -> insert(once, hash));
    NameTable other = new NameTable(new Contents());
    Collections.shuffle(hashes, new Random(5));
    for (long i = -1; i > -50_000; i--) { // what grew it and is gone again
      insert(other, i);
    }
    hashes.forEach(hash -> insert(other, hash));
    for (long i = -1; i > -50_000; i--) {
      assertThat(other.find(i)).isTrue();
      other.remove();
    }
    for (int bits : new int[] {1, 2, 3, 5, 9, 13}) {
      long[] all = ranges(once, bits);
      assertThat(ranges(other, bits)).as("%d bits", bits).isEqualTo(all);
      for (int i = 1; i < all.length; i++) {
        assertThat(Long.compareUnsigned(NameTable.mix(all[i - 1]), NameTable.mix(all[i])))
            .isNegative();
      }
      assertThat(sorted(all)).isEqualTo(sorted(hashes.stream().mapToLong(h -> h).toArray()));
    }
    for (long hash : hashes.subList(0, 1_000)) {
      int prefix = (int) (NameTable.mix(hash) >>> 33);
      assertThat(once.range(prefix, 31, () -> true)).contains(hash);
    }
  }

  @Test
  void shouldHoldAllInNoMoreMemory_whenRoomWasMade() {
    for (int count : new int[] {0, 1, 30_000, 77_000, 300_000}) {
      for (int told : new int[] {count / 10, count, count * 2}) {
        Random random = new Random(count);
        NameTable grown = new NameTable(new Contents());
        NameTable made = new NameTable(new Contents());
        made.expect(told);
        for (int i = 0; i < count; i++) {
          long hash = random.nextLong();
          insert(grown, hash);
          insert(made, hash);
          made.describe(i, 0, 0, 0);
        }
        random = new Random(count);
        for (int i = 0; i < count; i++) {
          assertThat(made.find(random.nextLong())).isTrue();
          assertThat(made.get(NameTable.KEY)).isEqualTo(i);
        }
        assertThat(made.size()).isEqualTo(count);
        if (told <= count) {
          assertThat(made.bytes()).isLessThan((long) (1.1 * grown.bytes()));
        }
      }
    }
  }

  @Test
  void shouldGiveNothing_whenARangeIsEmpty() {
    assertThat(table.range(0, 1, () -> true)).isEmpty();
    insert(table, 7);
    int prefix = (int) (NameTable.mix(7) >>> 33);
    assertThat(table.range(prefix, 31, () -> true)).containsExactly(7);
    assertThat(table.range(prefix ^ 1, 31, () -> true)).isEmpty();
  }

  @Test
  void shouldTakeMixingBack() {
    Random random = new Random(6);
    for (int i = 0; i < 1_000_000; i++) {
      long hash = (i & 1) == 0 ? random.nextLong() : i - 500_000L;
      assertThat(NameTable.unmix(NameTable.mix(hash))).isEqualTo(hash);
      assertThat(NameTable.mix(NameTable.unmix(hash))).isEqualTo(hash);
    }
  }

  /** Nobody meets such hashes by chance; who looks for them must not stop the table. */
  @Test
  void shouldRefuseOneMore_whenThousandsOfHashesBeginAlikeWhenMixed() {
    Random random = new Random(8);
    int refused = 0;
    for (long i = 0; i < 40_000; i++) {
      long hash = NameTable.unmix(0x5A5A5AL << 40 | i << 20 | i);
      if (table.insert(hash, i % 2 == 0)) {
        table.describe(0, 0, 0, 0);
        expected.put(hash, new long[5]);
      } else {
        refused++;
        assertThat(table.find(hash)).isFalse();
        assertThat(table.size()).isEqualTo(expected.size());
      }
    }
    assertThat(refused).isGreaterThan(32_000);
    insert(NameTable.unmix(1), random);
    checkAll(Numbering.SEQUENTIAL);
    assertThat(table.bytes()).as("its directory, too").isLessThan(3_000_000);
    for (long hash : new ArrayList<>(expected.keySet())) {
      assertThat(table.find(hash)).isTrue();
      table.remove();
      expected.remove(hash);
    }
    insert(NameTable.unmix(0x5A5A5AL << 40), random);
    table.remove();
    assertThat(table.size()).isZero();
  }

  private static long[] ranges(NameTable table, int bits) {
    long[] all = new long[(int) table.size()];
    int count = 0;
    for (int prefix = 0; prefix < 1 << bits; prefix++) {
      long[] some = table.range(prefix, bits, () -> true);
      System.arraycopy(some, 0, all, count, some.length);
      count += some.length;
    }
    assertThat(count).isEqualTo(all.length);
    return all;
  }

  private static long[] sorted(long[] hashes) {
    long[] sorted = hashes.clone();
    Arrays.sort(sorted);
    return sorted;
  }

  /** Some are the only name of their block, some are further ones. */
  private static void insert(NameTable to, long hash) {
    to.insert(hash, (NameTable.mix(hash) & 3) != 0);
    to.describe(hash, 0, 0, 0);
  }

  private void insert(long hash, Random random) {
    table.insert(hash, random.nextBoolean());
    table.describe(0, 0, 0, 0);
    expected.put(hash, new long[5]);
    check(hash);
    change(hash, random);
  }

  private void change(long hash, Random random) {
    assertThat(table.find(hash)).isTrue();
    long[] fields = expected(hash);
    long word = random.nextLong();
    if (random.nextBoolean()) {
      fields[NameTable.WORD] = word & ~MEANING | fields[NameTable.WORD] & MEANING;
      table.setWord(word);
    } else {
      // As if prompts of different contexts and lengths had blocks in common.
      fields[NameTable.KEY] =
          random.nextInt(1_000) * (random.nextBoolean() ? 1 : 0x9E3779B9L << 33);
      fields[NameTable.LOCAL] = random.nextInt(2);
      fields[NameTable.WORD] = word & ~MEANING | (random.nextBoolean() ? MEANING : 0);
      fields[NameTable.PARENT] = random.nextLong();
      table.describe(
          fields[NameTable.KEY],
          fields[NameTable.WORD],
          fields[NameTable.LOCAL],
          fields[NameTable.PARENT]);
    }
  }

  private void removeOneOf(List<Long> there, Random random) {
    int at = random.nextInt(there.size());
    long hash = there.get(at);
    there.set(at, there.get(there.size() - 1));
    there.remove(there.size() - 1);
    check(hash);
    table.remove();
    expected.remove(hash);
    assertThat(table.find(hash)).isFalse();
  }

  private long[] expected(long hash) {
    return Objects.requireNonNull(expected.get(hash));
  }

  private void check(long hash) {
    long[] fields = expected(hash);
    boolean right = table.find(hash) && table.get(NameTable.HASH) == hash;
    for (int field = NameTable.HASH + 1; field <= NameTable.LOCAL; field++) {
      right = right && table.get(field) == fields[field];
    }
    if (!right) {
      throw new AssertionError("hash " + hash);
    }
  }

  private void checkAll(Numbering numbering) {
    assertThat(table.size()).isEqualTo(expected.size());
    long[] hashes = expected.keySet().stream().mapToLong(hash -> hash).toArray();
    for (long hash : hashes) {
      table.touchSlot(hash);
      table.touchEntry(hash);
      check(hash);
    }
    Set<Long> seen = new HashSet<>();
    table.range(
        0,
        0,
        () -> {
          long hash = table.get(NameTable.HASH);
          assertThat(seen.add(hash)).isTrue();
          assertThat(table.get(NameTable.LOCAL)).isEqualTo(expected(hash)[NameTable.LOCAL]);
          return true;
        });
    assertThat(seen).isEqualTo(expected.keySet());
    for (long i = 0; i < 1_000; i++) {
      long hash = numbering.hash.applyAsLong(10L * MOST + i);
      assertThat(table.find(hash)).isEqualTo(expected.containsKey(hash));
    }
    for (int bits : new int[] {0, 1, 4, 10}) {
      assertThat(sorted(ranges(table, bits))).isEqualTo(sorted(hashes));
    }
  }
}
