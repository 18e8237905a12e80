// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * An SGLang with EAGLE announces each token with its successor: a page of four is known once the
 * fifth token is, so a prompt that differs in its last token lacks the page before it, too.
 */
@Tag("broker")
class EaglePairsIT {

  private static final int BLOCK = 4;
  private static final int[] PROMPT = IntStream.rangeClosed(1, 13).toArray();

  @TempDir private Path directory;

  @Test
  @Timeout(120)
  void shouldCountWholePagesOfPairs_underEachProfileOfTokens() throws Exception {
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
        ScriptedEngine engine = new ScriptedEngine("e", 0)) {
      Api api = new Api(server.uri());
      for (String profile : List.of("xxh3", "xxh3_dynamo")) {
        api.post("/register", registration(engine, profile));
      }
      List<List<Integer>> pairs =
          IntStream.range(0, 12).mapToObj(i -> List.of(PROMPT[i], PROMPT[i + 1])).toList();
      engine.announce(
          Arrays.asList("BlockStored", List.of(101L, 102L, 103L), null, pairs, BLOCK, null, "GPU"));
      for (String profile : List.of("xxh3", "xxh3_dynamo")) {
        await().atMost(Duration.ofSeconds(30)).until(() -> matched(api, profile, PROMPT) == 12);
        assertThat(matched(api, profile, differingIn(12))).as(profile).isEqualTo(8);
        assertThat(matched(api, profile, differingIn(8))).as(profile).isEqualTo(4);
        assertThat(matched(api, profile, differingIn(4))).as(profile).isZero();
        assertThat(matched(api, profile, Arrays.copyOf(PROMPT, 12))).as(profile).isEqualTo(8);
      }
      engine.announce(ScriptedEngine.removed("GPU", List.of(102L)));
      for (String profile : List.of("xxh3", "xxh3_dynamo")) {
        await().atMost(Duration.ofSeconds(30)).until(() -> matched(api, profile, PROMPT) == 4);
      }
    }
  }

  private static int[] differingIn(int position) {
    int[] other = PROMPT.clone();
    other[position] = 99;
    return other;
  }

  /** Each profile has a tenant of its own. */
  private static ObjectNode registration(ScriptedEngine engine, String profile) {
    return Api.JSON
        .createObjectNode()
        .put("endpoint", engine.endpoint())
        .put("replay_endpoint", engine.replayEndpoint())
        .put("type", "SGLang")
        .put("modelname", Api.MODEL)
        .put("instance_id", "e")
        .put("tenant_id", profile)
        .put("hash_profile", profile)
        .put("block_size", BLOCK)
        .put("dp_rank", 0);
  }

  private static int matched(Api api, String profile, int[] tokens) {
    ArrayNode ids = Api.JSON.createArrayNode();
    Arrays.stream(tokens).forEach(ids::add);
    ObjectNode body = Api.JSON.createObjectNode().put("model", Api.MODEL).put("tenant_id", profile);
    body.put("block_size", BLOCK).set("token_ids", ids);
    return api.post("/query", body).path(profile).path("e").path("longest_matched").asInt();
  }
}
