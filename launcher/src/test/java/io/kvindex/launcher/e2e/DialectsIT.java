// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whoever registered an engine, everybody may ask about it and unregister it: nine engines, one for
 * each pair of dialects that registers and unregisters it, asked about in all three before, between
 * and after. Those one dialect registers serve one model, which so has that dialect's hash profile.
 */
@Tag("broker")
@Timeout(240)
class DialectsIT {

  private enum Dialect {
    CONDUCTOR,
    BINARY,
    DYNAMO
  }

  /** What engine {@code n} of a model holds in one context. */
  private record Asked(String lora, String salt, int blocks) {
    int tokens(int engine) {
      return (blocks - engine) * BLOCK;
    }
  }

  private static final int BLOCK = 4;
  private static final int[] PROMPT = IntStream.rangeClosed(1, 10 * BLOCK).toArray();
  private static final Duration WITHIN = Duration.ofSeconds(30);
  private static final List<Asked> CONTEXTS =
      List.of(new Asked("", "", 9), new Asked("sql", "", 6), new Asked("", "s", 4));

  @TempDir private Path directory;
  private final List<SimulatedEngine> engines = new ArrayList<>();
  private AllInOne server;
  private Api api;

  @BeforeEach
  void start() throws InterruptedException {
    server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
    api = new Api(server.uri());
  }

  @AfterEach
  void stop() {
    engines.forEach(SimulatedEngine::close);
    server.close();
  }

  @Test
  void shouldAnswerInEachDialect_whicheverRegisteredAndUnregistered() throws Exception {
    Map<Dialect, List<String>> registered = new TreeMap<>();
    for (Dialect by : Dialect.values()) {
      List<String> ids = new ArrayList<>();
      for (Dialect until : Dialect.values()) {
        String id = Integer.toString(10 * by.ordinal() + until.ordinal() + 1);
        register(by, engine(id, until.ordinal()), id);
        ids.add(id);
      }
      registered.put(by, ids);
    }
    for (Map.Entry<Dialect, List<String>> model : registered.entrySet()) {
      compare(model.getKey(), model.getValue());
      // Each one is taken away by another dialect, and by no more than that.
      List<String> left = new ArrayList<>(model.getValue());
      for (Dialect until : Dialect.values()) {
        unregister(until, model.getKey(), left.remove(0));
        compare(model.getKey(), left);
      }
    }
    assertThat(api.get("/services").path("count").asInt()).isZero();
  }

  /** Engine {@code n} of a model holds {@code n} blocks less than its first. */
  private SimulatedEngine engine(String id, int n) {
    SimulatedEngine engine = EngineOptions.vllm(id).blockSize(BLOCK).pythonHashSeed("0").start();
    engines.add(engine);
    for (Asked one : CONTEXTS) {
      int[] prompt = Arrays.copyOf(PROMPT, one.tokens(n));
      engine.prefill(prompt, emptyAsNull(one.lora()), emptyAsNull(one.salt()));
    }
    assertThat(engine.flush()).isTrue();
    return engine;
  }

  private static @Nullable String emptyAsNull(String text) {
    return text.isEmpty() ? null : text;
  }

  private static String model(Dialect by) {
    return "registered-by-" + by;
  }

  private void register(Dialect by, SimulatedEngine engine, String id) throws Exception {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("endpoint", engine.endpoint());
    body.put("replay_endpoint", engine.replayEndpoint());
    body.put("block_size", BLOCK);
    body.put("dp_rank", 0);
    body.put(by == Dialect.DYNAMO ? "model_name" : "modelname", model(by));
    if (by == Dialect.DYNAMO) {
      body.put("instance_id", Integer.parseInt(id));
      assertThat(send(by, "/register", body, 201)).isEqualTo("{\"status\":\"ok\"}");
      return;
    }
    body.put("instance_id", id);
    body.put("type", "vLLM");
    if (by == Dialect.BINARY) {
      body.put(
          "hash_profile",
          Map.of(
              "strategy", "vllm_v1",
              "algorithm", "sha256_cbor",
              "python_hash_seed", "0",
              "index_projection", "low64_be"));
    }
    assertThat(send(by, "/register", body, 200))
        .isEqualTo("{\"status\":\"registered successfully\",\"instance_id\":\"" + id + "\"}");
  }

  private void unregister(Dialect until, Dialect by, String id) throws Exception {
    if (until == Dialect.DYNAMO) {
      Map<String, Object> body =
          Map.of("instance_id", Integer.parseInt(id), "model_name", model(by));
      assertThat(send(until, "/unregister", body, 200)).isEqualTo("{\"status\":\"ok\"}");
      return;
    }
    assertThat(send(until, "/unregister", Map.of("instance_id", id, "dp_rank", 0), 200))
        .isEqualTo(
            "{\"status\":\"unregistered successfully\",\"removed_instances\":[\""
                + id
                + "|default|0\"]}");
  }

  /** The answers of a model of which these engines are left, in all contexts and dialects. */
  private void compare(Dialect by, List<String> left) {
    for (Dialect asking : Dialect.values()) {
      for (Asked asked : CONTEXTS) {
        await()
            .atMost(WITHIN)
            .untilAsserted(
                () ->
                    assertThat(ask(asking, by, asked, left.isEmpty()))
                        .as("%s of %s asks for %s", asking, model(by), asked)
                        .isEqualTo(answer(asking, by, asked, left)));
      }
    }
  }

  private String ask(Dialect asking, Dialect by, Asked asked, boolean gone) throws Exception {
    Map<String, Object> body = new LinkedHashMap<>();
    body.put(asking == Dialect.DYNAMO ? "model_name" : "model", model(by));
    body.put("block_size", BLOCK);
    body.put("lora_name", asked.lora());
    body.put("cache_salt", asked.salt());
    body.put("token_ids", Arrays.stream(PROMPT).boxed().toList());
    return send(asking, "/query", body, gone && asking == Dialect.DYNAMO ? 404 : 200);
  }

  private static String answer(Dialect asking, Dialect by, Asked asked, List<String> left) {
    if (left.isEmpty() && asking == Dialect.DYNAMO) {
      return "{\"error\":\"no indexer for model="
          + model(by)
          + " routing_group=default\",\"reason\":\"not_found\"}";
    }
    String rows =
        left.stream()
            .map(
                id ->
                    "\"" + id + "\":" + row(asking, asked.tokens((Integer.parseInt(id) - 1) % 10)))
            .collect(Collectors.joining(",", "{", "}"));
    return switch (asking) {
      case CONDUCTOR -> "{\"default\":" + rows + "}";
      case BINARY -> "{\"instances\":" + rows + "}";
      case DYNAMO -> {
        String scores =
            left.stream()
                .map(
                    id ->
                        "\"%s\":{\"0\":%d}"
                            .formatted(id, asked.tokens((Integer.parseInt(id) - 1) % 10)))
                .collect(Collectors.joining(",", "{", "}"));
        yield "{\"scores\":" + scores + ",\"frequencies\":[],\"instances\":" + rows + "}";
      }
    };
  }

  private static String row(Dialect asking, int n) {
    String tiers = "\"gpu\":" + n + ",\"cpu\":" + n + ",\"disk\":" + n;
    return "{\"longest_matched\":"
        + n
        + switch (asking) {
          case CONDUCTOR -> ",\"GPU\":" + n + ",\"DP\":{\"0\":" + n + "},\"CPU\":0,\"DISK\":0}";
          case BINARY ->
              ",\"dp\":{\"0\":" + n + "},\"rank_matches\":{\"0\":{" + tiers + "}}," + tiers + "}";
          case DYNAMO ->
              ",\"gpu\":" + n + ",\"dp\":{\"0\":" + n + "},\"cpu\":" + n + ",\"disk\":" + n + "}";
        };
  }

  /** The answer as JSON text, whatever it is packed in. */
  private String send(Dialect dialect, String path, Map<String, Object> body, int status)
      throws Exception {
    if (dialect == Dialect.BINARY) {
      return api.postPacked(path, body, status);
    }
    ObjectNode json = Api.JSON.valueToTree(body);
    return api.post(path, json, status).toString();
  }
}
