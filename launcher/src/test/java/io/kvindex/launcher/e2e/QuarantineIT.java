// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.launcher.Main;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * Batches are cut on their way while the replay endpoint is dead: quarantined, and the engine is
 * degraded. Once the replay answers, a retry makes everything right again. All the while the
 * figures of a running server add up.
 */
@Tag("broker")
class QuarantineIT {

  private static final Duration SOON = Duration.ofSeconds(60);
  private static final List<String> CAUSES =
      List.of(
          "applied",
          "duplicate_or_late",
          "former_life",
          "unreadable",
          "malformed",
          "quarantined",
          "asked_again",
          "abandoned",
          "frames_waiting");

  @TempDir private Path directory;
  private final Random random = new Random(7);

  @Test
  @Timeout(180)
  void shouldBeWholeAgain_whenARetryFindsTheReplay() throws Exception {
    int replayPort = ChildProcess.freePort();
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
        SimulatedEngine engine = EngineOptions.vllm("e").gpuBlocks(300).start();
        LossyProxy proxy = new LossyProxy(engine.endpoint(), 1, Faults.NONE)) {
      Api api = new Api(server.uri());
      register(api, engine, proxy.endpoint(), replayPort);
      await().atMost(SOON).until(() -> publishedAndVisible(api, engine));
      proxy.faults(new Faults(0, 0, 0, 1));
      await()
          .atMost(SOON)
          .until(
              () -> {
                work(engine);
                return listener(api).path("state").asText().equals("degraded");
              });
      proxy.faults(Faults.NONE);
      await().atMost(SOON).until(() -> publishedAndVisible(api, engine));
      assertBalanced(api, server.uri());
      assertThat(kvindex(server, "quarantine", "list")).contains("truncated", "e ", "now", "no");
      assertThat(kvindex(server, "quarantine", "list", "--publisher", "other"))
          .contains("nothing in quarantine");
      assertThat(kvindex(server, "quarantine", "retry", "e")).contains("still not readable");
      long life = listener(api).path("life").asLong();
      try (TcpRelay relay = new TcpRelay(replayPort, engine.replayEndpoint())) {
        assertThat(kvindex(server, "quarantine", "retry", "e", "--force")).contains("rebuilt");
        await()
            .atMost(SOON)
            .until(
                () ->
                    listener(api).path("state").asText().equals("active")
                        && listener(api).path("life").asLong() > life);
        await().atMost(SOON).until(() -> publishedAndVisible(api, engine));
      }
      assertTruth(api, engine);
      assertBalanced(api, server.uri());
      assertThat(kvindex(server, "quarantine", "list")).contains("former");
    }
  }

  private void work(SimulatedEngine engine) {
    engine.prefill(LoadedEngines.prompt(random), null, null);
    engine.flush();
  }

  private boolean publishedAndVisible(Api api, SimulatedEngine engine) {
    work(engine);
    long last = engine.lastSequence();
    await()
        .atMost(SOON)
        .until(
            () ->
                listener(api).path("state").asText().matches("active|degraded|replaying|pending"));
    return api.visible("e") == last;
  }

  private static void register(Api api, SimulatedEngine engine, String endpoint, int replayPort) {
    api.post(
        "/register",
        Api.JSON
            .createObjectNode()
            .put("endpoint", endpoint)
            .put("replay_endpoint", "tcp://127.0.0.1:" + replayPort)
            .put("type", "vLLM")
            .put("modelname", Api.MODEL)
            .put("instance_id", "e")
            .put("block_size", engine.options().blockSize()));
  }

  private static JsonNode listener(Api api) {
    return api.get("/workers").path(0).path("listeners").path("0");
  }

  private static void assertTruth(Api api, SimulatedEngine engine) {
    Truth truth = new Truth();
    Random prompts = new Random(7);
    for (int i = 0; i < 50; i++) {
      int[] prompt = LoadedEngines.prompt(prompts);
      truth.check(
          api.query("default", prompt, null, engine.options().blockSize()), engine, prompt, null);
    }
    assertThat(truth.nonZero()).isPositive();
    assertThat(listener(api).at("/blocks/GPU").asLong()).isBetween(1L, 300L);
    assertThat(listener(api).path("lag_batches").asLong(-1)).isZero();
  }

  /** Nothing is unaccounted: frames, events and gaps of the bridge, records of the tables. */
  private static void assertBalanced(Api api, URI server) {
    await()
        .atMost(SOON)
        .untilAsserted(
            () -> {
              JsonNode counters = listener(api).path("counters");
              long causes = CAUSES.stream().mapToLong(c -> counters.path(c).asLong()).sum();
              assertThat(causes)
                  .as("frames %s", counters)
                  .isEqualTo(
                      counters.path("frames_live").asLong()
                          + counters.path("frames_replayed").asLong())
                  .isPositive();
              long events = 0;
              for (Map.Entry<String, JsonNode> counter : counters.properties()) {
                boolean cause =
                    counter.getKey().startsWith("skipped_")
                        || counter.getKey().startsWith("events_");
                events += cause ? counter.getValue().asLong() : 0;
              }
              assertThat(events)
                  .as("events %s", counters)
                  .isEqualTo(counters.path("events").asLong())
                  .isPositive();
              String metrics = metrics(server);
              assertThat(
                      metric(metrics, "kvindex_records_total{outcome=\"applied\"}")
                          + metric(metrics, "kvindex_records_total{outcome=\"duplicate\"}")
                          + metric(metrics, "kvindex_records_total{outcome=\"stale_incarnation\"}")
                          + metric(metrics, "kvindex_records_total{outcome=\"undecodable\"}")
                          + metric(metrics, "kvindex_held_back"))
                  .isEqualTo(metric(metrics, "kvindex_records_taken_total"))
                  .isPositive();
            });
  }

  private static String metrics(URI server) throws Exception {
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(server.resolve("/metrics")).build(), BodyHandlers.ofString())
        .body();
  }

  private static double metric(String metrics, String name) {
    Matcher line =
        Pattern.compile("^" + Pattern.quote(name) + " (\\S+)$", Pattern.MULTILINE).matcher(metrics);
    assertThat(line.find()).as(name).isTrue();
    return Double.parseDouble(line.group(1));
  }

  private static String kvindex(AllInOne server, String... arguments) {
    StringWriter out = new StringWriter();
    CommandLine kvindex = Main.commandLine();
    kvindex.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(out, true));
    String[] all = java.util.Arrays.copyOf(arguments, arguments.length + 2);
    all[arguments.length] = "--server";
    all[arguments.length + 1] = server.uri().toString();
    assertThat(kvindex.execute(all)).as("%s", out).isZero();
    return out.toString();
  }
}
