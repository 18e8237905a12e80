// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import static io.kvindex.streams.index.Walks.contains;
import static io.kvindex.streams.index.Walks.held;
import static io.kvindex.streams.index.Walks.owner;
import static io.kvindex.streams.index.Walks.slots;
import static io.kvindex.streams.index.Walks.walk;
import static io.kvindex.streams.index.Walks.walkIn;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.streams.index.Walks.Run;
import io.kvindex.streams.index.Walks.Runs;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class PrefixIndexTest {

  private final PrefixIndex index = new PrefixIndex();

  @Test
  void shouldReportRunsOfEqualOwners_whenSeveralHoldAPrompt() {
    int a = index.addOwner(owner("a"));
    int b = index.addOwner(owner("b"));
    for (long key : new long[] {10, 11, 12, 13}) {
      assertThat(index.add(key, a)).isTrue();
    }
    index.add(10, b);
    index.add(11, b);
    index.add(13, b);

    Runs runs = walk(index, 10, 11, 12, 13, 14, 15);

    assertThat(runs.runs)
        .containsExactly(new Run(0, slots(a, b)), new Run(2, slots(a)), new Run(3, slots(a, b)));
    assertThat(runs.end).isEqualTo(4);
  }

  @Test
  void shouldHoldAllInNoMoreMemory_whenRoomWasMade() {
    for (int count : new int[] {0, 1, 3_000, 77_000, 300_000}) {
      for (int told : new int[] {count / 10, count, count * 2}) {
        PrefixIndex grown = new PrefixIndex();
        PrefixIndex made = new PrefixIndex();
        made.expect(told);
        int a = made.addOwner(owner("a"));
        grown.addOwner(owner("a"));
        new Random(count).longs(count).forEach(key -> grown.add(key, a));
        new Random(count).longs(count).forEach(key -> assertThat(made.add(key, a)).isTrue());
        new Random(count).longs(count).forEach(key -> assertThat(made.add(key, a)).isFalse());
        assertThat(made.figures().blocks()).isEqualTo(count);
        if (told <= count) {
          assertThat(made.figures().bytes())
              .isLessThan(60_000 + (long) (1.3 * grown.figures().bytes()));
        }
        new Random(count).longs(count).forEach(key -> assertThat(made.remove(key, a)).isTrue());
        assertThat(made.figures().blocks()).isZero();
      }
    }
  }

  @Test
  void shouldEndAtOnce_whenNobodyHoldsTheFirstBlock() {
    int a = index.addOwner(owner("a"));
    index.add(2, a);

    Runs runs = walk(index, 1, 2);

    assertThat(runs.runs).isEmpty();
    assertThat(runs.end).isZero();
  }

  @Test
  void shouldHashNoFurther_whenAPromptEndsEarly() {
    int a = index.addOwner(owner("a"));
    for (long key = 0; key < 100; key++) {
      index.add(key, a);
    }
    int[] asked = new int[1];

    new PrefixReader()
        .walk(
            index,
            (out, from, max) -> {
              for (int i = 0; i < max; i++) {
                out[i] = from + i;
              }
              asked[0] = from + max;
              return max;
            },
            Walks.PLAIN,
            new Runs());

    assertThat(asked[0]).isBetween(100, 170);
  }

  @Test
  void shouldTreatEveryKeyAlike_whenKeysAreZeroOrExtreme() {
    int a = index.addOwner(owner("a"));
    for (long key : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      assertThat(contains(index, key, a)).isFalse();
      assertThat(held(index, key)).isFalse();
      assertThat(index.remove(key, a)).isFalse();
      assertThat(index.add(key, a)).isTrue();
      assertThat(index.add(key, a)).isFalse();
      assertThat(contains(index, key, a)).isTrue();
      assertThat(held(index, key)).isTrue();
    }
    assertThat(walk(index, 0, -1, Long.MIN_VALUE, Long.MAX_VALUE, 1).end).isEqualTo(4);
    assertThat(index.remove(0, a)).isTrue();
    assertThat(walk(index, 0).end).isZero();
    assertThat(index.figures().blocks()).isEqualTo(3);
    assertThat(index.members(a)).isEqualTo(3);
  }

  @Test
  void shouldHideAnOwnerAtOnce_whenItIsRetired() {
    int a = index.addOwner(owner("a"));
    int b = index.addOwner(owner("b"));
    index.add(1, a);
    index.add(1, b);
    index.add(2, a);

    index.retireOwner(a);

    Runs runs = walk(index, 1, 2);
    assertThat(runs.runs).containsExactly(new Run(0, slots(b)));
    assertThat(runs.end).isEqualTo(1);
    assertThat(held(index, 2)).isFalse();
    assertThat(contains(index, 2, a)).isTrue();
    assertThat(index.owners().owner(a)).isNull();
    assertThat(index.figures().owners()).isEqualTo(1);
  }

  @Test
  void shouldNotReportAChange_whenOnlyADeadOwnerDiffers() {
    int a = index.addOwner(owner("a"));
    int b = index.addOwner(owner("b"));
    for (long key = 0; key < 10; key++) {
      index.add(key, b);
    }
    index.add(5, a);
    index.retireOwner(a);

    assertThat(walk(index, LongStream.range(0, 10).toArray()).runs)
        .containsExactly(new Run(0, slots(b)));
  }

  @Test
  void shouldUseASlotAgain_whenItsBlocksAreSwept() {
    int a = index.addOwner(owner("a"));
    index.add(1, a);
    index.retireOwner(a);
    index.freeOwner(a);
    int b = index.addOwner(owner("b"));
    assertThat(b).as("a still has a block").isNotEqualTo(a);

    index.remove(1, a);

    assertThat(index.addOwner(owner("c"))).isEqualTo(a);
    assertThat(walk(index, 1).end).isZero();
  }

  @Test
  void shouldNotUseASlotAgain_whileAWalkThatKnewItsOwnerRuns() {
    int a = index.addOwner(owner("a"));
    index.add(1, a);
    int[] during = new int[1];
    new PrefixReader()
        .walk(
            index,
            Walks.keys(1),
            Walks.PLAIN,
            new Runs() {
              @Override
              public boolean change(int position, long[] ownerBits) {
                index.retireOwner(a);
                index.remove(1, a);
                index.freeOwner(a);
                during[0] = index.addOwner(owner("b"));
                return true;
              }
            });

    assertThat(during[0]).isNotEqualTo(a);
    assertThat(index.addOwner(owner("c"))).isEqualTo(a);
  }

  @Test
  void shouldUniteOwners_whenAQueryHasSeveralContexts() {
    int a = index.addOwner(owner("a"));
    int b = index.addOwner(owner("b"));
    index.add(1 ^ 7L << 40, a);
    index.add(2 ^ 7L << 40, a);
    index.add(1, b);
    index.add(3, b);

    Runs runs = walkIn(index, new long[] {0, 7L << 40}, 1, 2, 3, 4);

    assertThat(runs.runs)
        .containsExactly(new Run(0, slots(a, b)), new Run(1, slots(a)), new Run(2, slots(b)));
    assertThat(runs.end).isEqualTo(3);
  }

  @Test
  void shouldKeepAllBits_whenThousandsOfOwnersShareABlock() {
    int owners = 3_000;
    int[] slot = new int[owners];
    BitSet all = new BitSet();
    for (int i = 0; i < owners; i++) {
      slot[i] = index.addOwner(owner("i" + i));
      index.add(42, slot[i]);
      index.add(43, slot[i]);
      all.set(slot[i]);
    }
    assertThat(walk(index, 42, 43).runs).containsExactly(new Run(0, all));
    assertThat(index.sets().count()).isEqualTo(1);

    Random random = new Random(5);
    for (int i = 0; i < 2_000; i++) {
      int s = slot[random.nextInt(owners)];
      assertThat(index.remove(43, s)).isEqualTo(all.get(s));
      all.clear(s);
    }
    assertThat(walk(index, 43).runs).containsExactly(new Run(0, all));
    assertThat(index.sets().count()).isEqualTo(2);
  }

  @Test
  void shouldStaySmallAndRight_whenKeysComeAndGo() {
    int a = index.addOwner(owner("a"));
    Random random = new Random(7);
    long[] window = new long[5_000];
    for (int i = 0; i < window.length; i++) {
      window[i] = random.nextLong();
      index.add(window[i], a);
    }
    long bytes = index.figures().bytes();
    for (int i = 0; i < 1_000_000; i++) {
      int at = random.nextInt(window.length);
      assertThat(index.remove(window[at], a)).isTrue();
      window[at] = random.nextLong();
      assertThat(index.add(window[at], a)).isTrue();
    }
    for (long key : window) {
      assertThat(held(index, key)).isTrue();
    }
    assertThat(index.figures().blocks()).isEqualTo(window.length);
    assertThat(index.figures().bytes()).isLessThan(2 * bytes);
  }

  @Test
  void shouldGiveMemoryBack_whenAnIndexRunsEmpty() {
    int a = index.addOwner(owner("a"));
    Map<Integer, Long> perBlock = new HashMap<>();
    for (int i = 0; i < 300_000; i++) {
      index.add(i * 0x9E3779B97F4A7C15L, a);
      if (i >= 100_000 && i % 10_000 == 0) {
        perBlock.put(i, index.figures().bytes() / i);
      }
    }
    assertThat(perBlock.values()).allMatch(bytes -> bytes <= 32);
    for (int i = 0; i < 300_000; i++) {
      assertThat(index.remove(i * 0x9E3779B97F4A7C15L, a)).isTrue();
    }
    assertThat(index.figures().blocks()).isZero();
    assertThat(index.figures().bytes()).isLessThan(400_000);
  }

  @Test
  void shouldReuseSetIds_whenSetsComeAndGo() {
    int[] slot = new int[70];
    for (int i = 0; i < slot.length; i++) {
      slot[i] = index.addOwner(owner("i" + i));
    }
    Random random = new Random(3);
    BitSet expected = new BitSet();
    for (int i = 0; i < 200_000; i++) {
      int s = slot[random.nextInt(slot.length)];
      assertThat(expected.get(s) ? index.remove(9, s) : index.add(9, s)).isTrue();
      expected.flip(s);
    }
    assertThat(walk(index, 9).runs).containsExactly(new Run(0, expected));
    assertThat(index.sets().count()).isEqualTo(1);
    assertThat(index.sets().unused()).isLessThan(200);
    assertThat(index.figures().bytes()).isLessThan(100_000);
  }

  @Test
  void shouldRefuse_whenASlotIsNotWhatTheCallerThinks() {
    int a = index.addOwner(owner("a"));
    assertThatThrownBy(() -> index.add(1, 5))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no owner in slot 5");
    assertThatThrownBy(() -> index.freeOwner(a))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("slot 0 is LIVE, expected RETIRED");
    index.retireOwner(a);
    assertThatThrownBy(() -> index.retireOwner(a)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void shouldSayWhy_whenMoreWalksRunThanThereIsRoomFor() {
    PrefixIndex narrow = new PrefixIndex(new Epochs(1));
    narrow.add(1, narrow.addOwner(owner("a")));
    Runs nested =
        new Runs() {
          @Override
          public boolean change(int position, long[] ownerBits) {
            walk(narrow, 1);
            return true;
          }
        };
    assertThatThrownBy(() -> new PrefixReader().walk(narrow, Walks.keys(1), Walks.PLAIN, nested))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("more than 1 index walks at the same instant");
    assertThat(walk(narrow, 1).end).as("the place was given back").isEqualTo(1);
  }
}
