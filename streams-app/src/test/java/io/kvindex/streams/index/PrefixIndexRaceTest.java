// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import static io.kvindex.streams.index.Walks.owner;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One writer, four readers. Readers cannot know the exact state, so they check what must hold at
 * any moment. Seconds per test: property {@code index.race.seconds}, default 3.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class PrefixIndexRaceTest {

  private static final int READERS = 4;
  private static final int PROMPTS = 8;
  private static final int SHARED = 100;
  private static final int LENGTH = 300;
  private static final int LIVE = 40;
  private static final int SWEPT = 50;

  private final PrefixIndex index = new PrefixIndex();
  private volatile boolean stop;

  /** Owners up to this number are completely stored. */
  private volatile int loaded = -1;

  /** Owners up to this number may be hidden from now on. */
  private volatile int retiring = -1;

  /** Owners up to this number are hidden. */
  private volatile int retired = -1;

  /**
   * Owner n holds exactly prompt n % 8. Owners come, are retired, swept and freed for ever, so
   * slots and set ids are reused all the time; and the table grows and shrinks under the readers.
   */
  @Test
  void shouldNeverAnswerWrong_whenOwnersAndSlotsAreReused() throws Exception {
    long[][] prompts = prompts(new Random(11));
    List<Integer> slots = new ArrayList<>();
    Random random = new Random(12);
    int noise = index.addOwner(owner("noise"));
    List<Long> noiseKeys = new ArrayList<>();
    long walks =
        race(
            reader -> checkOneWalk(prompts, new Random(reader)),
            n -> {
              slots.add(index.addOwner(owner(Integer.toString(n))));
              for (long key : prompts[n % PROMPTS]) {
                index.add(key, slots.get(n));
              }
              loaded = n;
              churn(noise, noiseKeys, random, n % 200 < 100);
              retire(prompts, slots, n);
            });
    // How many slots it took depends on how long the scheduler kept a reader waiting in its walk.
    assertThat(slots).as("a slot that was used before").contains(index.addOwner(owner("last")));
    long distinct = slots.stream().distinct().count();
    System.out.printf(
        "race: %d owners in %d slots, %d walks checked%n", slots.size(), distinct, walks);
  }

  /**
   * The table grows from nothing to a million keys and back while readers look for 2,000 of them.
   */
  @Test
  void shouldNeverMissAKey_whenTheTableGrowsAndShrinks() throws Exception {
    Random random = new Random(13);
    int keeper = index.addOwner(owner("keeper"));
    int other = index.addOwner(owner("other"));
    long[] kept = random.longs(2_000).toArray();
    for (long key : kept) {
      index.add(key, keeper);
    }
    List<Long> noise = new ArrayList<>();
    boolean[] growing = {true};
    long walks =
        race(
            reader -> {
              PrefixReader walker = new PrefixReader();
              return () -> {
                Walks.Runs runs = new Walks.Runs();
                assertThat(walker.walk(index, Walks.keys(kept), Walks.PLAIN, runs))
                    .isEqualTo(kept.length);
                assertThat(runs.runs).allMatch(run -> run.slots().get(keeper));
              };
            },
            n -> {
              churn(other, noise, random, growing[0]);
              if (noise.size() > 1_000_000 || noise.isEmpty()) {
                growing[0] = noise.isEmpty();
              }
              long key = kept[n % kept.length];
              if (!index.remove(key, other)) {
                index.add(key, other);
              }
            });
    System.out.printf("growth: %d keys at the end, %d walks checked%n", noise.size(), walks);
  }

  private interface Reader {
    Runnable forReader(int number);
  }

  private interface Writer {
    void step(int n);
  }

  private long race(Reader reader, Writer writer) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(READERS);
    try {
      List<Future<Long>> results = new ArrayList<>();
      for (int r = 0; r < READERS; r++) {
        Runnable check = reader.forReader(r);
        results.add(
            threads.submit(
                () -> {
                  long walks = 0;
                  for (; !stop; walks++) {
                    check.run();
                  }
                  return walks;
                }));
      }
      long end =
          System.nanoTime() + TimeUnit.SECONDS.toNanos(Integer.getInteger("index.race.seconds", 3));
      for (int n = 0; System.nanoTime() < end; n++) {
        writer.step(n);
      }
      stop = true;
      long walks = 0;
      for (Future<Long> result : results) {
        walks += result.get();
      }
      return walks;
    } finally {
      stop = true;
      threads.shutdownNow();
    }
  }

  private Runnable checkOneWalk(long[][] prompts, Random random) {
    PrefixReader reader = new PrefixReader();
    return () -> {
      int prompt = random.nextInt(PROMPTS);
      int hidden = retired;
      int complete = loaded;
      Seen seen = new Seen();
      int end = reader.walk(index, Walks.keys(prompts[prompt]), Walks.PLAIN, seen);
      for (int i = 0; i < seen.sets.size(); i++) {
        int[] owners = seen.sets.get(i);
        for (int n : owners) {
          assertThat(n).as("owner seen after it was retired").isGreaterThan(hidden);
          assertThat(seen.positions.get(i) < SHARED || n % PROMPTS == prompt)
              .as("owner %d at block %d of prompt %d", n, seen.positions.get(i), prompt)
              .isTrue();
        }
      }
      checkComplete(seen, prompt, retiring, complete, end);
    };
  }

  /** Owners stored before the walk and not retired until after it hold every block of it. */
  private static void checkComplete(Seen seen, int prompt, int hidden, int complete, int end) {
    for (int n = hidden + 1; n <= complete; n++) {
      if (n % PROMPTS == prompt) {
        int wanted = n;
        assertThat(end).isEqualTo(LENGTH);
        assertThat(seen.sets).allMatch(owners -> Arrays.stream(owners).anyMatch(o -> o == wanted));
      }
    }
  }

  private void retire(long[][] prompts, List<Integer> slots, int n) {
    if (n >= LIVE) {
      retiring = n - LIVE;
      index.retireOwner(slots.get(n - LIVE));
      retired = n - LIVE;
    }
    if (n >= SWEPT) {
      int slot = slots.get(n - SWEPT);
      for (long key : prompts[(n - SWEPT) % PROMPTS]) {
        index.remove(key, slot);
      }
      index.freeOwner(slot);
    }
  }

  private void churn(int slot, List<Long> keys, Random random, boolean grow) {
    for (int i = 0; i < 500; i++) {
      if (grow) {
        long key = random.nextLong();
        index.add(key, slot);
        keys.add(key);
      } else if (!keys.isEmpty()) {
        int at = random.nextInt(keys.size());
        index.remove(keys.get(at), slot);
        keys.set(at, keys.get(keys.size() - 1));
        keys.remove(keys.size() - 1);
      }
    }
  }

  private static long[][] prompts(Random random) {
    long[] shared = random.longs(SHARED).toArray();
    long[][] prompts = new long[PROMPTS][];
    for (int p = 0; p < PROMPTS; p++) {
      prompts[p] = Arrays.copyOf(shared, LENGTH);
      for (int i = SHARED; i < LENGTH; i++) {
        prompts[p][i] = random.nextLong();
      }
    }
    return prompts;
  }

  /** Owner numbers of each run, by the view the walk itself gave. */
  private static final class Seen implements RunVisitor {
    final List<int[]> sets = new ArrayList<>();
    final List<Integer> positions = new ArrayList<>();
    private OwnerView view = OwnerView.EMPTY;

    @Override
    public void begin(OwnerView owners) {
      view = owners;
    }

    @Override
    public boolean change(int position, long[] ownerBits) {
      BitSet bits = BitSet.valueOf(Arrays.copyOf(ownerBits, view.words()));
      sets.add(bits.stream().map(slot -> Integer.parseInt(name(slot))).toArray());
      positions.add(position);
      return true;
    }

    private String name(int slot) {
      Owner owner = view.owner(slot);
      return Objects.requireNonNull(owner, "a bit names no live owner").instanceId();
    }

    @Override
    public void end(int position) {}
  }
}
