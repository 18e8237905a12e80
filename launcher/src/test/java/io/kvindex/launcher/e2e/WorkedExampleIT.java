// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import io.kvindex.model.hash.SeqHash;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The worked examples of the Conductor documents, from frames on the wire to the answer over HTTP,
 * with the documents' own events, registrations and requests. Source: Mooncake Conductor Indexer
 * RFC, {@code POST /query}, example, and "Indexer KVEvents Structure"; Conductor Indexer API, the
 * samples of {@code POST /register}, {@code /query} and {@code /query_by_hash}.
 */
@Tag("broker")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WorkedExampleIT {

  private static final Duration WITHIN = Duration.ofSeconds(30);
  private static final String MEMORY = "10.0.0.7:17001";
  private static final String DISK = "nvme://10.0.0.7/0";

  private static final String[] ALL_STAGES =
      Stream.of("decode", "produce", "acknowledge", "fetch", "queue", "fold", "visible")
          .map(WorkedExampleIT::stage)
          .toArray(String[]::new);

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
   * H1 hits in GPU (dp0, dp1), CPU and DISK; H2 in GPU (dp0) and CPU; H3 in DISK. The host and disk
   * copies are the store's, announced by its BlockStoreEvents.
   */
  @Test
  void shouldGiveTheRfcsNumbers_whenH1H2H3AreWhereItSays() throws Exception {
    int[] prompt = {101, 15, 100, 55, 89, 63};
    long[] h = {11, 12, 13};
    try (WirePublisher rank0 = new WirePublisher(0);
        WirePublisher rank1 = new WirePublisher(0);
        WirePublisher store = new WirePublisher(0)) {
      register(rank0, "vLLM", "vllm-1", 0, 2);
      register(rank1, "vLLM", "vllm-1", 1, 2);
      ObjectNode pool = registration(store, "Mooncake", "store", 0, 2);
      pool.putObject("address_tiers").put("nvme", "DISK");
      api.post("/register", pool);
      for (WirePublisher publisher : List.of(rank0, rank1, store)) {
        publisher.awaitSubscriber();
      }
      rank0.send(batch(0, stored(prompt, h, 0, 2, 2, "GPU", null)));
      rank1.send(batch(1, stored(prompt, h, 0, 1, 2, "GPU", null)));
      store.send(
          List.of(
              List.of(
                  object(prompt, h, 0, MEMORY, DISK),
                  object(prompt, h, 1, MEMORY),
                  object(prompt, h, 2, DISK))));
      ObjectNode query = Api.JSON.createObjectNode().put("model", Api.MODEL).put("block_size", 2);
      tokens(query, prompt);
      awaitAnswer(
          "/query",
          query,
          "{\"default\":{\"vllm-1\":{\"longest_matched\":6,\"GPU\":4,"
              + "\"DP\":{\"0\":4,\"1\":2},\"CPU\":4,\"DISK\":4}}}");
    }
  }

  /**
   * Of 256 tokens rank 0 holds the first half on its GPU, rank 1 all in its CPU offload; adapter
   * and salt as in the document's samples.
   */
  @Test
  void shouldGiveTheApisNumbers_whenRankOneOffloads() throws Exception {
    int[] prompt = IntStream.range(1_000, 1_256).toArray();
    long[] h = LongStream.range(0, 4).map(i -> 0x4000 + i).toArray();
    try (WirePublisher rank0 = new WirePublisher(0);
        WirePublisher rank1 = new WirePublisher(0)) {
      for (WirePublisher publisher : List.of(rank0, rank1)) {
        int rank = publisher == rank0 ? 0 : 1;
        ObjectNode body =
            registration(publisher, "vLLM", "vllm-prefill-node1", rank, 64)
                .put("modelname", "deepseek")
                .put("lora_name", "sql-adapter")
                .put("tenant_id", "default")
                .put("additionalsalt", "w8a8");
        assertThat(api.post("/register", body).toString())
            .isEqualTo(
                "{\"status\":\"registered successfully\",\"instance_id\":\"vllm-prefill-node1\"}");
        publisher.awaitSubscriber();
      }
      rank0.send(batch(0, stored(prompt, h, 0, 2, 64, "GPU", "sql-adapter")));
      rank1.send(batch(1, stored(prompt, h, 0, 4, 64, "CPU", "sql-adapter")));
      String answer =
          "{\"default\":{\"vllm-prefill-node1\":{\"longest_matched\":256,\"GPU\":128,"
              + "\"DP\":{\"0\":128,\"1\":256},\"CPU\":256,\"DISK\":0}}}";
      awaitAnswer("/query", tokens(apiQuery(), prompt), answer);
      SeqHash hash = new SeqHash(1337);
      long[] seq = hash.rolled(hash.locals(prompt, prompt.length, 64));
      for (String name : List.of("seq_hashes", "block_hash")) {
        ObjectNode query = apiQuery();
        ArrayNode list = query.putArray(name);
        Arrays.stream(seq).forEach(s -> list.add(new BigInteger(Long.toUnsignedString(s))));
        assertThat(api.post("/query_by_hash", query).toString()).isEqualTo(answer);
      }
      JsonNode gone =
          api.post(
              "/unregister",
              Api.JSON.readTree(
                  "{\"type\":\"vLLM\",\"modelname\":\"deepseek\",\"lora_name\":\"sql-adapter\","
                      + "\"tenant_id\":\"default\",\"instance_id\":\"vllm-prefill-node1\","
                      + "\"block_size\":128,\"dp_rank\":0}"));
      assertThat(gone.toString())
          .isEqualTo(
              "{\"status\":\"unregistered successfully\","
                  + "\"removed_instances\":[\"vllm-prefill-node1|default|0\"]}");
      awaitAnswer(
          "/query",
          tokens(apiQuery(), prompt),
          "{\"default\":{\"vllm-prefill-node1\":{\"longest_matched\":256,\"GPU\":0,"
              + "\"DP\":{\"1\":256},\"CPU\":256,\"DISK\":0}}}");
    }
  }

  /** From the frame to the answer; acknowledged is what was visible before, or after. */
  @Test
  void shouldShowWhereTheTimeOfABatchGoes_whenItIsTheFirstOfItsPublisher() throws Exception {
    int[] prompt = {7, 8, 9, 10};
    try (WirePublisher publisher = new WirePublisher(0)) {
      register(publisher, "vLLM", "timed", 0, 2);
      publisher.awaitSubscriber();
      publisher.send(batch(0, stored(prompt, new long[] {21, 22}, 0, 2, 2, "GPU", null)));
      await().atMost(WITHIN).until(() -> api.visible("timed") >= 0);
    }
    await()
        .atMost(WITHIN)
        .untilAsserted(
            () -> {
              Map<String, Double> counts = api.samples("kvindex_stage_seconds_count");
              assertThat(counts).containsOnlyKeys(ALL_STAGES);
              assertThat(counts.values()).allMatch(count -> count > 0).containsOnly(max(counts));
            });
    double visible = seconds("visible");
    double parts =
        Stream.of("decode", "produce", "fetch", "queue", "fold").mapToDouble(this::seconds).sum();
    assertThat(parts).isPositive().isLessThanOrEqualTo(visible + 1e-6);
  }

  private double seconds(String stage) {
    return api.samples("kvindex_stage_seconds_sum").getOrDefault(stage(stage), Double.NaN);
  }

  private static String stage(String stage) {
    return "{stage=\"" + stage + "\"}";
  }

  private static double max(Map<String, Double> counts) {
    return Collections.max(counts.values());
  }

  private static ObjectNode apiQuery() {
    return Api.JSON
        .createObjectNode()
        .put("model", "deepseek")
        .put("lora_name", "sql-adapter")
        .put("tenant_id", "default")
        .put("instance_id", "vllm-prefill-node1")
        .put("block_size", 64)
        .put("cache_salt", "w8a8");
  }

  private void awaitAnswer(String path, ObjectNode query, String answer) {
    await()
        .atMost(WITHIN)
        .untilAsserted(() -> assertThat(api.post(path, query).toString()).isEqualTo(answer));
  }

  private static ObjectNode tokens(ObjectNode query, int[] prompt) {
    ArrayNode list = query.putArray("token_ids");
    Arrays.stream(prompt).forEach(list::add);
    return query;
  }

  private void register(
      WirePublisher publisher, String type, String instance, int rank, int blockSize) {
    api.post("/register", registration(publisher, type, instance, rank, blockSize));
  }

  private static ObjectNode registration(
      WirePublisher publisher, String type, String instance, int rank, int blockSize) {
    return Api.JSON
        .createObjectNode()
        .put("endpoint", publisher.endpoint())
        .put("type", type)
        .put("modelname", Api.MODEL)
        .put("instance_id", instance)
        .put("block_size", blockSize)
        .put("dp_rank", rank);
  }

  private static List<Object> batch(int rank, Object event) {
    return List.of(1_760_000_000.5, List.of(event), rank);
  }

  /** The RFC's BlockStored with blocks {@code from} to {@code to} of the prompt. */
  private static List<@Nullable Object> stored(
      int[] prompt,
      long[] hashes,
      int from,
      int to,
      int blockSize,
      String medium,
      @Nullable String lora) {
    return Arrays.asList(
        "BlockStored",
        Arrays.stream(hashes, from, to).boxed().toList(),
        from == 0 ? null : hashes[from - 1],
        Arrays.stream(prompt, from * blockSize, to * blockSize).boxed().toList(),
        blockSize,
        lora == null ? null : 1,
        medium,
        lora);
  }

  /** The RFC's BlockStoreEvent of one block of two tokens. */
  private static List<@Nullable Object> object(
      int[] prompt, long[] hashes, int block, String... addresses) {
    List<@Nullable Object> event = new ArrayList<>();
    event.add("BlockStoreEvent");
    event.add(1_760_000_000.5);
    event.add("object-" + block);
    event.add(List.of(addresses));
    event.add(hashes[block]);
    event.add(block == 0 ? null : hashes[block - 1]);
    event.add(Arrays.stream(prompt, 2 * block, 2 * block + 2).boxed().toList());
    event.add(2);
    event.add(Api.MODEL);
    event.add("");
    event.add(null);
    return event;
  }
}
