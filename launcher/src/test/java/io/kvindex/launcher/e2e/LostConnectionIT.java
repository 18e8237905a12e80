// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Engines and a pool whose connection breaks: who is named meanwhile, and until when. */
@Tag("broker")
class LostConnectionIT {

  private static final int[] PROMPT = {101, 15, 100, 55};
  private static final long[] HASHES = {11, 12};
  private static final Duration WITHIN = Duration.ofSeconds(30);

  @TempDir private Path directory;

  @Test
  @Timeout(120)
  void shouldNameWhomNobodyStandsFor_whileTheConnectionIsDown() throws Exception {
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(0));
        WirePublisher one = new WirePublisher(0);
        WirePublisher other = new WirePublisher(0);
        WirePublisher file = new WirePublisher(0);
        WirePublisher master = new WirePublisher(1);
        TcpRelay toOne = new TcpRelay(0, one.endpoint());
        TcpRelay toFile = new TcpRelay(0, file.endpoint());
        TcpRelay toMaster = new TcpRelay(0, master.endpoint())) {
      Api api = new Api(server.uri());
      api.post("/register", registration("one", "vLLM", toOne.endpoint()));
      api.post("/register", registration("other", "vLLM", other.endpoint()));
      api.post("/register", registration("file", "vLLM", toFile.endpoint()).put("detached", true));
      api.post("/register", registration("pool", "Mooncake", toMaster.endpoint()));
      api.post("/register", registration("silent", "vLLM", "tcp://127.0.0.1:1"));
      for (WirePublisher publisher : List.of(one, other, file)) {
        publisher.awaitSubscriber();
        publisher.send(Arrays.asList(1_760_000_000.5, List.of(stored()), 0));
      }
      master.awaitSubscriber();
      master.send(
          Arrays.asList(
              1_760_000_000_250L, List.of(StoreEvents.stored("cpu", StoreEvents.key(11, 0))), 0));
      for (String name : List.of("one", "other", "file", "pool")) {
        await().atMost(WITHIN).until(() -> api.visible(name) >= (name.equals("pool") ? 1 : 0));
      }
      await().atMost(WITHIN).until(() -> degraded(api).isEmpty());
      assertThat(visible(api, 200)).isNotNull();

      toFile.cut();
      long cut = System.nanoTime();
      toOne.cut();
      await()
          .atMost(WITHIN)
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(10))
          .until(() -> degraded(api).equals(Optional.of("one")));
      assertThat(Duration.ofNanos(System.nanoTime() - cut)).isLessThan(Duration.ofSeconds(1));
      assertThat(api.header("X-KvIndex-State", "default", PROMPT, 2)).hasValue("degraded");
      assertThat(visible(api, 503).path("error").asText()).contains("not connected");
      await().atMost(WITHIN).until(() -> !connected(api, "file"));
      assertThat(degraded(api)).hasValue("one");

      // Without a replay only its next batch shows who it is, or that it is another one.
      toOne.mend();
      await().atMost(WITHIN).until(() -> connected(api, "one"));
      assertThat(degraded(api)).hasValue("one");
      await()
          .atMost(WITHIN)
          .pollInSameThread() // that of the publisher
          .until(
              () -> {
                one.send(Arrays.asList(1_760_000_001.5, List.of(), 0));
                return degraded(api).isEmpty();
              });

      toMaster.cut();
      await()
          .atMost(WITHIN)
          .until(() -> degraded(api).equals(Optional.of("file,one,other,pool,silent")));
    }
  }

  private static Optional<String> degraded(Api api) {
    return api.degraded("default", PROMPT, 2);
  }

  private static boolean connected(Api api, String instance) {
    return api.listener(instance).path("connected").asBoolean();
  }

  /** The answer to who asks for what the first batch of {@code one} told. */
  private static JsonNode visible(Api api, int status) {
    ObjectNode body = Api.JSON.createObjectNode();
    body.put("model", Api.MODEL).put("block_size", 2);
    var tokens = body.putArray("token_ids");
    Arrays.stream(PROMPT).forEach(tokens::add);
    body.putObject("min_event").put("instance_id", "one").put("event_id", 0);
    return api.post("/query", body, status);
  }

  private static ObjectNode registration(String instance, String type, String endpoint) {
    return Api.JSON
        .createObjectNode()
        .put("endpoint", endpoint)
        .put("type", type)
        .put("modelname", Api.MODEL)
        .put("instance_id", instance)
        .put("block_size", 2);
  }

  private static List<@Nullable Object> stored() {
    List<Integer> tokens = Arrays.stream(PROMPT).boxed().toList();
    List<Long> hashes = Arrays.stream(HASHES).boxed().toList();
    return Arrays.asList("BlockStored", hashes, null, tokens, 2, null, "GPU");
  }
}
