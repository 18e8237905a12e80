// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.Incarnation;
import io.kvindex.model.Media;
import io.kvindex.query.match.InstanceSet.Instance;
import io.kvindex.query.match.NaiveIndex.Holder;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.index.PrefixReader;
import io.kvindex.streams.index.RunVisitor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random stores, removals, clears, retirements and slot reuse on tree-shaped prompts, every number
 * compared with {@link NaiveIndex} throughout. Block operations: property {@code index.oracle.ops},
 * default a million; seed: {@code index.oracle.seed}.
 */
class IndexOracleTest {

  private static final int INSTANCES = 64;
  private static final int OWNERS = 200;
  private static final int PROMPTS = 60;
  private static final int MAX_DEPTH = 2_000;
  private static final int RUNS_PER_QUERY = 15;
  private static final long[] CONTEXTS = {0, 0x5DEECE66D1234567L, -77};
  private static final @Nullable String[] MEDIA = {
    "GPU", null, "cuda:1", "CPU", "CPU_PINNED", "DISK", "NVME", "NPU", "EXTERNAL"
  };

  private final long operations = Long.getLong("index.oracle.ops", 1_000_000);
  private final long seed = Long.getLong("index.oracle.seed", 20_260_715);
  private final Random random = new Random(seed);
  private final PromptTree tree = new PromptTree(PROMPTS, MAX_DEPTH, random);
  private final PrefixIndex index = new PrefixIndex();
  private final NaiveIndex oracle = new NaiveIndex();
  private final List<Instance> instances = instances();
  private final InstanceSet set = new InstanceSet(instances, Media.standard());
  private final PrefixReader reader = new PrefixReader();
  private final MatchCounter counter = new MatchCounter();
  private final Member[] members = new Member[OWNERS];

  /** Retired, not yet swept. */
  private final List<Member> sweeping = new ArrayList<>();

  private final TreeMap<Integer, Integer> histogram = new TreeMap<>();
  private final int[] done = new int[5];
  private int widest;

  /** One owner in both worlds, and the keys it holds. */
  private record Member(Owner owner, Holder holder, int slot, Set<Long> keys) {}

  @Test
  @Timeout(value = 30, unit = TimeUnit.MINUTES)
  void shouldEqualTheOracle_whenBlocksComeAndGoAtRandom() {
    for (int i = 0; i < OWNERS; i++) {
      members[i] = join(owner(i, 0));
    }
    long ops = 0;
    for (int run = 0; ops < operations; run++) {
      ops += mutate();
      if (run % RUNS_PER_QUERY == 0) {
        compareQuery();
        compareKeys();
      }
    }
    compareWhole();
    report(ops);
  }

  private int mutate() {
    int member = random.nextInt(OWNERS);
    sweepSome();
    int kind = random.nextInt(1_000);
    if (kind < 3) {
      return replace(member);
    }
    if (kind < 8) {
      return clear(members[member]);
    }
    long context = CONTEXTS[random.nextInt(8) < 5 ? 0 : random.nextInt(CONTEXTS.length)];
    long[] prompt = tree.any();
    return kind < 600
        ? store(members[member], prompt, context)
        : drop(members[member], prompt, context);
  }

  /** Goes on where the owner's prefix ends, often from further up again, sometimes with a hole. */
  private int store(Member member, long[] prompt, long context) {
    int from = 0;
    while (from < prompt.length && member.keys.contains(prompt[from] ^ context)) {
      from++;
    }
    from = Math.max(0, Math.min(prompt.length - 1, from - random.nextInt(4)));
    from = random.nextInt(20) == 0 ? random.nextInt(prompt.length) : from;
    int to = Math.min(prompt.length, from + 1 + random.nextInt(random.nextInt(3) == 0 ? 400 : 24));
    for (int i = from; i < to; i++) {
      long key = prompt[i] ^ context;
      boolean news = oracle.add(key, member.holder);
      assertThat(index.add(key, member.slot)).isEqualTo(news);
      member.keys.add(key);
    }
    done[0] += to - from;
    return to - from;
  }

  /** Some blocks from the end of its prefix, or from the middle. */
  private int drop(Member member, long[] prompt, long context) {
    int length = 0;
    while (length < prompt.length && member.keys.contains(prompt[length] ^ context)) {
      length++;
    }
    int count = 1 + random.nextInt(16);
    int from = random.nextInt(3) == 0 ? random.nextInt(prompt.length) : Math.max(0, length - count);
    int to = Math.min(prompt.length, from + count);
    for (int i = to - 1; i >= from; i--) {
      long key = prompt[i] ^ context;
      remove(member, key);
      member.keys.remove(key);
    }
    done[1] += to - from;
    return to - from;
  }

  private int clear(Member member) {
    for (long key : member.keys) {
      remove(member, key);
    }
    int count = member.keys.size();
    member.keys.clear();
    done[2]++;
    return count;
  }

  /** A new life: the old owner is hidden at once, swept in steps, and its slot used again later. */
  private int replace(int i) {
    Member old = members[i];
    old.holder.live = false;
    index.retireOwner(old.slot);
    sweeping.add(old);
    Incarnation before = old.owner.incarnation();
    members[i] = join(owner(i, before.life() + 1));
    done[3]++;
    return 1;
  }

  private void sweepSome() {
    if (sweeping.isEmpty()) {
      return;
    }
    Member member = sweeping.get(random.nextInt(sweeping.size()));
    List<Long> some = member.keys.stream().limit(200).toList();
    for (long key : some) {
      remove(member, key);
      member.keys.remove(key);
    }
    if (member.keys.isEmpty()) {
      index.freeOwner(member.slot);
      sweeping.remove(member);
      done[4]++;
    }
  }

  private void remove(Member member, long key) {
    assertThat(index.remove(key, member.slot)).isEqualTo(oracle.remove(key, member.holder));
  }

  private void compareQuery() {
    long[] prompt = tree.query();
    long[] contexts =
        random.nextInt(4) == 0
            ? new long[] {CONTEXTS[0], CONTEXTS[1 + random.nextInt(2)]}
            : new long[] {CONTEXTS[random.nextInt(3) == 0 ? 1 : 0]};
    int walked = reader.walk(index, QueryKeys.of(prompt), contexts, counter.over(set));
    List<Map<String, Integer>> expected = oracle.count(instances, prompt, contexts);
    int longest = 0;
    for (int i = 0; i < instances.size(); i++) {
      Map<String, Integer> row = QueryKeys.row(counter, i, 1);
      row.values().removeIf(blocks -> blocks == 0);
      assertThat(row)
          .as("instance %d of a query of %d blocks, seed %d", i, prompt.length, seed)
          .isEqualTo(expected.get(i));
      longest = Math.max(longest, counter.longest(i));
      histogram.merge(bucket(counter.longest(i)), 1, Integer::sum);
    }
    assertThat(walked).isEqualTo(longest);
  }

  private void compareKeys() {
    for (int i = 0; i < 4; i++) {
      long[] prompt = tree.any();
      long key = prompt[random.nextInt(prompt.length)];
      Member member = members[random.nextInt(OWNERS)];
      BitSet holders = holders(key);
      assertThat(holders.get(member.slot)).isEqualTo(oracle.contains(key, member.holder));
      assertThat(holders.isEmpty()).isNotEqualTo(oracle.held(key));
    }
    assertThat(index.figures().blocks()).isEqualTo(oracle.size());
  }

  /** Slots of the live owners that hold a block. */
  private BitSet holders(long key) {
    BitSet found = new BitSet();
    RunVisitor visitor =
        new RunVisitor() {
          private int words;

          @Override
          public void begin(OwnerView owners) {
            words = owners.words();
          }

          @Override
          public boolean change(int position, long[] ownerBits) {
            found.or(BitSet.valueOf(Arrays.copyOf(ownerBits, words)));
            return true;
          }

          @Override
          public void end(int position) {}
        };
    reader.walk(index, QueryKeys.of(key), new long[] {0}, visitor);
    return found;
  }

  private void compareWhole() {
    for (Member member : members) {
      assertThat(index.members(member.slot)).isEqualTo(member.keys.size());
      for (long key : member.keys) {
        assertThat(holders(key).get(member.slot)).isTrue();
      }
    }
    long[] first = {tree.any()[0]};
    int[] sharing = new int[1];
    for (int i = 0; i < 1_000; i++) {
      first[0] = tree.any()[0];
      sharing[0] = (int) Arrays.stream(members).filter(m -> m.keys.contains(first[0])).count();
      widest = Math.max(widest, sharing[0]);
    }
  }

  private Member join(Owner owner) {
    return new Member(owner, new Holder(owner), index.addOwner(owner), new HashSet<>());
  }

  /** The first 180 owners are caches of instances on two or more ranks, the others of two pools. */
  private static Owner owner(int i, long life) {
    boolean pool = i >= 180;
    String instance = pool ? "pool-" + i % 2 : "instance-" + i % INSTANCES;
    String backend = pool ? "backend-" + i / 8 : null;
    int rank = i / INSTANCES;
    String medium = MEDIA[(i * 7 + i / INSTANCES) % MEDIA.length];
    return new Owner(
        "default", instance, rank, rank, medium, pool, backend, new Incarnation(1, life, 0));
  }

  private static List<Instance> instances() {
    return IntStream.range(0, INSTANCES)
        .mapToObj(
            i ->
                new Instance(
                    "instance-" + i,
                    List.of(0, 1),
                    i % 3 == 0 ? null : i % 3 == 1 ? Set.of("pool-1") : Set.of()))
        .toList();
  }

  private static int bucket(int length) {
    return length == 0 ? 0 : Integer.highestOneBit(length);
  }

  private void report(long ops) {
    assertThat(histogram.tailMap(256).values().stream().mapToInt(n -> n).sum())
        .as(
            "deep matches in %d operations: %d stored, %d removed, %d clears, %d lives ended, %d"
                + " swept; %s; widest first block: %d owners; answers by matched blocks: %s",
            ops, done[0], done[1], done[2], done[3], done[4], index.figures(), widest, histogram)
        .isPositive();
  }
}
