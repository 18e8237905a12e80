// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The oracle against an index that knows only what was sent. */
@Timeout(120)
class HoldingsTest {
  private static final int BLOCK = 4;

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Prompt(int[] tokens, @Nullable String lora, @Nullable String salt) {}

  @ParameterizedTest
  @CsvSource({
    "VLLM,   ARRAY, VLLM_SHA256_CBOR, TOKENS,      1",
    "VLLM,   MAP,   VLLM_SHA256_CBOR, PLACEHOLDER, 2",
    "VLLM,   MAP,   RANDOM,           TOKENS,      3",
    "VLLM,   ARRAY, RANDOM,           PLACEHOLDER, 4",
    "SGLANG, ARRAY, SGLANG_SHA256,    TOKENS,      5",
    "SGLANG, MAP,   SGLANG_SHA256,    PLACEHOLDER, 6",
    "SGLANG, MAP,   RANDOM,           TOKENS,      7",
  })
  void shouldEqualTheEventsApplied_whenPromptsBranchEvictAndClear(
      EngineDialect dialect, EventForm form, EngineHashing hashing, HostStoreForm host, long seed) {
    EngineOptions options =
        (dialect == EngineDialect.VLLM ? EngineOptions.vllm("e") : EngineOptions.sglang("e"))
            .form(form)
            .hashing(hashing)
            .hostStores(host)
            .blockSize(BLOCK)
            .gpuBlocks(40)
            .hostBlocks(30);
    EngineCache cache = new EngineCache(options);
    EventEncoder encoder = new EventEncoder(dialect, form);
    NaiveIndex index = new NaiveIndex(dialect == EngineDialect.SGLANG);
    List<Prompt> prompts = prompts(new Random(seed), dialect);
    Random random = new Random(seed + 1000);
    int hostOnly = 0;
    for (int step = 0; step < 800; step++) {
      Prompt prompt = prompts.get(random.nextInt(prompts.size()));
      cache.prefill(prompt.tokens, new CacheContext(prompt.lora, prompt.salt));
      if (random.nextInt(150) == 0) {
        cache.clear();
      }
      if (random.nextInt(3) > 0) {
        index.apply(encoder.encode(step, cache.takeEvents(), 0));
        hostOnly += compare(cache, index, prompts, options);
      }
    }
    assertThat(hostOnly).as("blocks only the host tier held").isGreaterThan(100);
    assertThat(index.placeholders > 0).isEqualTo(host == HostStoreForm.PLACEHOLDER);
    assertThat(index.duplicates > 0)
        .as("second copies of a block, vLLM only")
        .isEqualTo(dialect == EngineDialect.VLLM);
  }

  private static int compare(
      EngineCache cache, NaiveIndex index, List<Prompt> prompts, EngineOptions options) {
    Set<List<Object>> gpu = index.held("GPU");
    Set<List<Object>> host = index.held(options.dialect().spell(Medium.HOST));
    int hostOnly = 0;
    for (Prompt prompt : prompts) {
      Holdings held = cache.holdings(prompt.tokens, new CacheContext(prompt.lora, prompt.salt));
      int walked = 0;
      int onGpu = 0;
      int onHost = 0;
      boolean walking = true;
      for (int i = 0; i < prompt.tokens.length / BLOCK; i++) {
        List<Object> prefix =
            NaiveIndex.prompt(prompt.tokens, i + 1, BLOCK, prompt.lora, prompt.salt);
        boolean g = gpu.contains(prefix);
        boolean h = host.contains(prefix);
        assertThat(held.holds(Medium.GPU, i)).isEqualTo(g);
        assertThat(held.holds(Medium.HOST, i)).isEqualTo(h);
        walking &= g || h;
        walked += walking ? BLOCK : 0;
        onGpu += walking && g ? BLOCK : 0;
        onHost += walking && h ? BLOCK : 0;
        hostOnly += walking && !g ? 1 : 0;
      }
      assertThat(held.longestMatched()).isEqualTo(walked);
      assertThat(held.tokens(Medium.GPU)).isEqualTo(onGpu);
      assertThat(held.tokens(Medium.HOST)).isEqualTo(onHost);
    }
    return hostOnly;
  }

  /** Tree-shaped prompts of few distinct tokens, some a whole number of blocks long. */
  private static List<Prompt> prompts(Random random, EngineDialect dialect) {
    String[] loras = dialect == EngineDialect.VLLM ? new String[] {null, "ad1"} : new String[1];
    String[] salts = {null, null, "s1"};
    List<Prompt> prompts = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      Prompt base = i % 3 == 0 ? null : prompts.get(random.nextInt(i));
      int[] tokens = random.ints(4 + random.nextInt(40), 0, 3).toArray();
      if (base == null) {
        prompts.add(
            new Prompt(
                tokens, loras[random.nextInt(loras.length)], salts[random.nextInt(salts.length)]));
        continue;
      }
      int shared = random.nextInt(base.tokens.length);
      int[] grown = new int[shared + tokens.length];
      System.arraycopy(base.tokens, 0, grown, 0, shared);
      System.arraycopy(tokens, 0, grown, shared, tokens.length);
      prompts.add(new Prompt(grown, base.lora, base.salt));
    }
    return prompts;
  }
}
