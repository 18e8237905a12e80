// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EngineCacheTest {
  private static final CacheContext PLAIN = new CacheContext(null, null);

  private static EngineCache cache(int gpu, int host) {
    return new EngineCache(EngineOptions.vllm("e").blockSize(2).gpuBlocks(gpu).hostBlocks(host));
  }

  @Test
  void shouldReportHitsAndRecomputeTheLastBlock_whenAPromptIsFoundWhole() {
    EngineCache cache = cache(10, 0);
    assertThat(cache.prefill(new int[] {1, 2, 3, 4}, PLAIN)).isEqualTo(new Prefill(4, 0, 0, 0));
    assertThat(cache.prefill(new int[] {1, 2, 3, 4}, PLAIN)).isEqualTo(new Prefill(4, 4, 0, 2));
    assertThat(cache.prefill(new int[] {1, 2, 3, 4, 5}, PLAIN)).isEqualTo(new Prefill(5, 4, 0, 0));
    List<EngineEvent> events = cache.takeEvents();
    assertThat(events).hasSize(2); // the run of two, then the second copy of the last block
    EngineEvent.Stored copy = (EngineEvent.Stored) events.get(1);
    EngineEvent.Stored run = (EngineEvent.Stored) events.get(0);
    assertThat(copy.blocks().get(0).hash()).isEqualTo(run.blocks().get(1).hash());
    assertThat(copy.origin().parent()).isEqualTo(run.blocks().get(0).hash());
  }

  @Test
  void shouldEvictTheTailFirst_whenAnotherPromptNeedsRoom() {
    EngineCache cache = cache(4, 0);
    int[] old = {1, 2, 3, 4, 5, 6};
    cache.prefill(old, PLAIN);
    cache.prefill(new int[] {9, 9, 9, 9}, PLAIN); // one empty block, so one eviction
    assertThat(cache.holdings(old, PLAIN).longestMatched()).isEqualTo(4);
    cache.prefill(new int[] {7, 7}, PLAIN);
    assertThat(cache.holdings(old, PLAIN).longestMatched()).isEqualTo(2);
  }

  @Test
  void shouldServeFromTheHostTierAndLoadBack_whenTheDeviceEvicted() {
    EngineCache cache = cache(3, 4);
    int[] old = {1, 2, 3, 4, 5, 6};
    cache.prefill(old, PLAIN);
    cache.prefill(new int[] {9, 9, 8, 8}, PLAIN);
    Holdings before = cache.holdings(old, PLAIN);
    assertThat(before.longestMatched()).isEqualTo(6);
    assertThat(before.tokens(Medium.GPU)).isEqualTo(2);
    assertThat(before.tokens(Medium.HOST)).isEqualTo(4);
    assertThat(cache.prefill(old, PLAIN)).isEqualTo(new Prefill(6, 2, 4, 2));
    assertThat(cache.holdings(old, PLAIN).tokens(Medium.GPU)).isEqualTo(6);
  }

  @Test
  void shouldCacheAsFarAsItReaches_whenThePromptIsLargerThanTheDevice() {
    EngineCache cache = cache(3, 0);
    int[] prompt = IntStream.range(0, 100).toArray();
    cache.prefill(prompt, PLAIN);
    assertThat(cache.holdings(prompt, PLAIN).longestMatched()).isEqualTo(6);
    assertThat(cache.prefill(prompt, PLAIN)).isEqualTo(new Prefill(100, 6, 0, 0));
  }

  @Test
  void shouldKeepTheHostTier_whenVllmClearsAndEmptyIt_whenSglangDoes() {
    for (EngineDialect dialect : EngineDialect.values()) {
      EngineOptions options =
          dialect == EngineDialect.VLLM ? EngineOptions.vllm("e") : EngineOptions.sglang("e");
      EngineCache cache = new EngineCache(options.blockSize(2).gpuBlocks(2).hostBlocks(2));
      cache.prefill(new int[] {1, 2, 3, 4}, PLAIN);
      cache.prefill(new int[] {5, 6, 7, 8}, PLAIN);
      cache.clear();
      Holdings held = cache.holdings(new int[] {1, 2, 3, 4}, PLAIN);
      assertThat(held.tokens(Medium.HOST)).isEqualTo(dialect == EngineDialect.VLLM ? 4 : 0);
      assertThat(cache.holdings(new int[] {5, 6}, PLAIN).longestMatched()).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({"12, 0, 1", "12, 8, 2", "30, 20, 3", "7, 3, 4", "64, 200, 5"})
  void shouldEqualAPlainListOfBlocks_whenRandomPromptsRun(int gpu, int host, long seed) {
    Random random = new Random(seed);
    EngineCache cache = cache(gpu, host);
    ListCache reference = new ListCache(2, gpu, host);
    List<int[]> prompts = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      int[] base = i % 4 == 0 ? new int[0] : prompts.get(random.nextInt(i));
      int[] prompt = Arrays.copyOf(base, base.length / 2 + 1 + random.nextInt(12));
      for (int t = base.length / 2; t < prompt.length; t++) {
        prompt[t] = random.nextInt(4);
      }
      prompts.add(prompt);
    }
    int cached = 0;
    for (int step = 0; step < 3_000; step++) {
      int[] prompt = prompts.get(random.nextInt(prompts.size()));
      Prefill expected = reference.prefill(prompt);
      assertThat(cache.prefill(prompt, PLAIN)).as("step %d", step).isEqualTo(expected);
      cached += expected.cachedTokens();
      int[] other = prompts.get(random.nextInt(prompts.size()));
      Holdings held = cache.holdings(other, PLAIN);
      for (int i = 0; i < other.length / 2; i++) {
        assertThat(held.holds(Medium.GPU, i)).isEqualTo(reference.onGpu(other, i));
        assertThat(held.holds(Medium.HOST, i)).isEqualTo(reference.onHost(other, i));
      }
    }
    assertThat(cached).isPositive();
  }

  /** The same policy over two plain lists and whole prefixes as strings. */
  private static final class ListCache {
    private final int blockSize;
    private final int hostCapacity;

    /** A device block: the prefix in it ("" = none) and when it was filled. */
    private record Slot(String prefix, int filled) {}

    /** Device blocks in order of eviction. */
    private final List<Slot> free = new ArrayList<>();

    private int fills;

    private final List<String> host = new ArrayList<>();

    ListCache(int blockSize, int gpu, int hostCapacity) {
      this.blockSize = blockSize;
      this.hostCapacity = hostCapacity;
      for (int i = 0; i < gpu; i++) {
        free.add(new Slot("", 0));
      }
    }

    boolean onGpu(int[] prompt, int index) {
      return oldest(prefix(prompt, index)) != null;
    }

    boolean onHost(int[] prompt, int index) {
      return host.contains(prefix(prompt, index));
    }

    private String prefix(int[] prompt, int index) {
      return Arrays.toString(Arrays.copyOf(prompt, (index + 1) * blockSize));
    }

    /** Of several copies vLLM uses the one that was filled first. */
    private @Nullable Slot oldest(String prefix) {
      return free.stream()
          .filter(slot -> slot.prefix().equals(prefix))
          .min(Comparator.comparingInt(Slot::filled))
          .orElse(null);
    }

    Prefill prefill(int[] prompt) {
      int capacity = free.size();
      int full = Math.min(prompt.length / blockSize, capacity);
      int device = 0;
      while (device < full && onGpu(prompt, device)) {
        device++;
      }
      int found = device;
      while (found < full && onHost(prompt, found)) {
        found++;
      }
      int used = found > 0 && found * blockSize == prompt.length ? found - 1 : found;
      int keep = Math.min(device, used);
      List<Slot> taken = new ArrayList<>();
      for (int i = 0; i < keep; i++) {
        Slot hit = oldest(prefix(prompt, i));
        free.remove(hit);
        taken.add(hit);
      }
      List<String> loading = new ArrayList<>();
      for (int i = used - 1; i >= keep; i--) {
        loading.add(prefix(prompt, i));
        host.remove(prefix(prompt, i));
        host.add(prefix(prompt, i));
      }
      int needed = Math.min((prompt.length + blockSize - 1) / blockSize, capacity);
      for (int i = keep; i < needed; i++) {
        evict(loading, taken); // all room is made before anything is filled
      }
      for (int i = keep; i < needed; i++) {
        taken.add(i < full ? new Slot(prefix(prompt, i), ++fills) : new Slot("", 0));
      }
      for (int i = taken.size() - 1; i >= 0; i--) {
        free.add(taken.get(i));
      }
      return new Prefill(
          prompt.length,
          device * blockSize,
          (found - device) * blockSize,
          (found - used) * blockSize);
    }

    private void evict(List<String> loading, List<Slot> inUse) {
      String victim = free.remove(0).prefix();
      boolean another =
          oldest(victim) != null || inUse.stream().anyMatch(s -> s.prefix().equals(victim));
      if (victim.isEmpty() || another || hostCapacity == 0) {
        return;
      }
      if (host.remove(victim)) {
        host.add(victim);
        return;
      }
      if (host.size() == hostCapacity) {
        String oldest = host.get(0);
        if (loading.contains(oldest)) {
          return;
        }
        host.remove(0);
      }
      host.add(victim);
    }
  }
}
