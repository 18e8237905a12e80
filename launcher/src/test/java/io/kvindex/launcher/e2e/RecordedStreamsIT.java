// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What real engines published, frame by frame, and at each mark what the engine itself held for a
 * number of prompts, with and without salts and adapters. What the files are is in {@code
 * vectors/recorded/README.md}.
 */
@Tag("broker")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RecordedStreamsIT {

  private static final Duration WITHIN = Duration.ofSeconds(30);

  private AllInOne server;
  private Api api;

  @BeforeAll
  void start(@TempDir Path directory) throws InterruptedException {
    server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
    api = new Api(server.uri());
  }

  @AfterAll
  void stop() {
    server.close();
  }

  /**
   * @param mostMisses answers that may be shorter than what the engine held: where whole prompts
   *     are computed again, events do not tell whether there is a second copy
   */
  @ParameterizedTest
  @CsvSource({
    "llama-salts, 0",
    "llama-adapters, 0",
    "llama-report-full, 0",
    "llama-duplicates, 6",
    "llama-report-full-duplicates, 5",
    "offload-placeholder, 0",
    "offload-self, 0",
    "offload-self-adapters, 0",
    "gptoss-1, 0",
    "gptoss-large, 0",
    "gemma3, 0",
    "qwen3next, 0"
  })
  void shouldAnswerWhatTheEngineHeld_atEveryMark(String name, int mostMisses) throws Exception {
    JsonNode stream = read(name);
    int blockSize = stream.path("block_size").asInt();
    boolean isHybrid = stream.path("groups").size() > 1;
    List<String> misses = new ArrayList<>();
    int answers = 0;
    try (WirePublisher engine = new WirePublisher(0)) {
      register(engine, name, blockSize);
      engine.awaitSubscriber();
      Iterator<JsonNode> frames = stream.path("frames").iterator();
      for (JsonNode mark : stream.path("marks")) {
        long last = mark.path("after_seq").asLong();
        for (long sent = -1; sent < last; ) {
          JsonNode frame = frames.next();
          sent = frame.path("seq").asLong();
          engine.send(sent, HexFormat.of().parseHex(frame.path("payload").asText()));
        }
        await().atMost(WITHIN).until(() -> api.visible(name) >= last);
        for (JsonNode check : mark.path("checks")) {
          compare(name + " after frame " + last, name, blockSize, isHybrid, check, misses);
          answers++;
        }
      }
    }
    assertThat(answers).isGreaterThan(100);
    assertThat(misses).hasSizeLessThanOrEqualTo(mostMisses);
  }

  private void compare(
      String where,
      String name,
      int blockSize,
      boolean isHybrid,
      JsonNode check,
      List<String> misses) {
    JsonNode row = ask(name, blockSize, check, 0);
    boolean offloads = check.has("any");
    int longest = check.path(offloads ? "any" : "device").asInt();
    int promised = row.path("longest_matched").asInt();
    assertThat(promised).as("%s: %s", where, check).isLessThanOrEqualTo(longest);
    if (promised < longest) {
      misses.add(where + ": " + promised + " of " + longest);
      return;
    }
    int device = check.path(offloads ? "gpu" : "device").asInt();
    assertThat(row.path("GPU").asInt()).as("%s GPU: %s", where, check).isEqualTo(device);
    assertThat(row.path("DP").path("0").asInt()).as("%s DP: %s", where, check).isEqualTo(longest);
    assertThat(row.path("CPU").asInt())
        .as("%s CPU: %s", where, check)
        .isEqualTo(offloads ? check.path("cpu").asInt() : 0);
    if (!isHybrid && !offloads) {
      assertThat(promised).as("%s hit: %s", where, check).isEqualTo(check.path("hit").asInt());
      // Of a request of just these tokens an engine computes the last one at any rate.
      assertThat(ask(name, blockSize, check, 1).path("longest_matched").asInt())
          .as("%s reuse: %s", where, check)
          .isEqualTo(check.path("reuse").asInt());
    }
  }

  /**
   * @param without how many of the last tokens are left out
   */
  private JsonNode ask(String name, int blockSize, JsonNode check, int without) {
    ObjectNode query =
        Api.JSON
            .createObjectNode()
            .put("model", Api.MODEL)
            .put("tenant_id", name)
            .put("block_size", blockSize);
    if (!check.path("lora").isNull()) {
      query.set("lora_name", check.path("lora"));
    }
    if (!check.path("salt").isNull()) {
      query.set("cache_salt", check.path("salt"));
    }
    var tokens = query.putArray("token_ids");
    for (int i = 0; i < check.path("tokens").size() - without; i++) {
      tokens.add(check.path("tokens").get(i));
    }
    return api.post("/query", query).path(name).path(name);
  }

  private void register(WirePublisher engine, String name, int blockSize) {
    api.post(
        "/register",
        Api.JSON
            .createObjectNode()
            .put("endpoint", engine.endpoint())
            .put("type", "vLLM")
            .put("modelname", Api.MODEL)
            .put("tenant_id", name)
            .put("instance_id", name)
            .put("block_size", blockSize)
            .put("dp_rank", 0));
  }

  private static JsonNode read(String name) throws IOException {
    String path = "/vectors/recorded/" + name + ".json.gz";
    try (InputStream file = RecordedStreamsIT.class.getResourceAsStream(path)) {
      return Api.JSON.readTree(new GZIPInputStream(Objects.requireNonNull(file, path)));
    }
  }
}
