// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.snippets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.model.hash.SeqHash;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each snippet registers a simulated engine of its own with a real kvindex and finds what that
 * engine cached: asked with JSON, octets and hashes, told to come back later, and too late.
 */
@Tag("broker")
@Timeout(600)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SnippetsIT {

  private static final long SEED = TestSeed.of(SnippetsIT.class);
  private static final int BLOCK = 16;
  private static final long XXH3_SEED = 1337;

  private final Random random = new Random(SEED);
  private AllInOne index;

  @BeforeAll
  void start(@TempDir Path directory) throws InterruptedException {
    index = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
  }

  @AfterAll
  void stop() {
    index.close();
  }

  @ParameterizedTest
  @EnumSource
  void shouldFindWhatTheEngineCached_whenItAsksInEachForm(Snippet snippet, @TempDir Path directory)
      throws Exception {
    assumeTrue(snippet.missing().isEmpty(), snippet + ": this machine has no " + snippet.missing());
    int[] cached = random.ints(5L * BLOCK, 0, 100_000).toArray();
    int[] prompt = Arrays.copyOf(cached, cached.length + BLOCK);
    String instance = snippet.name().toLowerCase(Locale.ROOT) + "-1";
    try (SimulatedEngine engine = EngineOptions.vllm(instance).blockSize(BLOCK).start();
        BusyFront front = new BusyFront(index.uri())) {
      engine.prefill(cached, null, null);
      engine.flush();
      snippet.build(directory);
      for (String url : List.of(front.uri(), index.uri().toString())) {
        String output = snippet.run(directory, environment(engine, prompt, url));
        String names = url.equals(front.uri()) ? BusyFront.DEGRADED : "-";
        assertThat(normalised(output, names, instance))
            .as("%s at %s printed%n%s", snippet, url, output)
            .isEqualTo(expected(snippet, names, instance));
      }
      assertThat(front.asked())
          .startsWith("/register " + jsonType(snippet), "/register " + jsonType(snippet))
          .contains("/query application/octet-stream");
    }
  }

  private static Map<String, String> environment(SimulatedEngine engine, int[] prompt, String url) {
    SeqHash hash = new SeqHash(XXH3_SEED);
    long[] hashes = hash.rolled(hash.locals(prompt, prompt.length, BLOCK));
    return Map.of(
        "KVINDEX", url,
        "INSTANCE", engine.options().name(),
        "MODEL", engine.options().name(), // its own: engines of former runs are gone, and named so
        "BLOCK_SIZE", "" + BLOCK,
        "ENDPOINT", engine.endpoint(),
        "REPLAY_ENDPOINT", engine.replayEndpoint(),
        "EVENT", "" + engine.lastSequence(),
        "TOKENS", Arrays.stream(prompt).mapToObj(String::valueOf).collect(Collectors.joining(",")),
        "HASHES",
            Arrays.stream(hashes)
                .mapToObj(Long::toUnsignedString)
                .collect(Collectors.joining(",")));
  }

  /** The lines it should print, lags and spellings of a name aside. */
  private static List<String> expected(Snippet snippet, String degraded, String instance) {
    List<String> lines = new ArrayList<>(List.of("register: registered successfully"));
    for (String what : List.of("own write", "query", "octets", "hashes")) {
      lines.add(found(what, degraded, instance));
    }
    if (snippet == Snippet.PYTHON) {
      lines.add(found("msgpack", degraded, instance));
    }
    lines.add("late: 503 deadline_exceeded: route by load");
    return lines;
  }

  private static List<String> normalised(String output, String degraded, String instance) {
    return output
        .replaceAll("lag_ms=\\d+", "lag_ms=N")
        .replace("gone, really", BusyFront.DEGRADED)
        .replace("msgpack: not installed", found("msgpack", degraded, instance))
        .lines()
        .toList();
  }

  private static String found(String what, String degraded, String instance) {
    return what + ": exact lag_ms=N degraded=" + degraded + " " + instance + "=80";
  }

  private static String jsonType(Snippet snippet) {
    return snippet == Snippet.CURL ? "application/x-www-form-urlencoded" : "application/json";
  }
}
