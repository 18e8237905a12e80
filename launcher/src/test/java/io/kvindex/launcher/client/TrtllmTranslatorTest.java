// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.EngineEvent.Removed;
import io.kvindex.bridge.decode.EngineEvent.Stored;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.Hashes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What TensorRT-LLM's objects become on the wire. */
class TrtllmTranslatorTest {

  private static final int SIZE = 4;

  /** The batch's head: an array of three and a double for the time. */
  private static final int HEAD = 10;

  private static final String HASH = "8aacae47f66585ed";
  private static final String REMOVED =
      "83" + text("type") + text("BlockRemoved") + text("block_hashes") + "91d3" + HASH;
  private static final String ON_GPU = text("medium") + text("GPU");
  private static final String MOVED_TO_CPU =
      "88"
          + (text("type") + text("BlockStored") + text("block_hashes") + "91d3" + HASH)
          + (text("parent_block_hash") + "c0" + text("token_ids") + "90")
          + (text("block_size") + "00" + text("lora_id") + "c0" + text("lora_name") + "c0")
          + (text("medium") + text("CPU"));

  private final Map<String, Long> counts = TrtllmTranslator.newCounts();
  private final TrtllmTranslator translator = new TrtllmTranslator(SIZE, 3, counts);

  @ParameterizedTest
  @CsvSource({
    "trtllm_json_removed, removed",
    "trtllm_json_created, created",
    "trtllm_json_updated, moved"
  })
  void shouldWriteTheseBytes_whenGivenASample(String sample, String outcome) throws IOException {
    byte[] batch = translator.translate(sample(sample));
    String events =
        switch (sample) {
          case "trtllm_json_removed" -> "91" + REMOVED + ON_GPU;
          case "trtllm_json_created" -> "90";
          default -> "92" + REMOVED + ON_GPU + MOVED_TO_CPU;
        };
    assertThat(HexFormat.of().formatHex(batch, 0, 2)).isEqualTo("93cb");
    assertThat(HexFormat.of().formatHex(batch, HEAD, batch.length)).isEqualTo(events + "03");
    assertThat(counts).isEqualTo(Map.of(outcome, 1L));
  }

  @Test
  void shouldKeepBlocksApart_whenTheirMultimodalKeysDiffer() throws IOException {
    List<Hashes> extras =
        java.util.stream.Stream.of("[]", "[{\"hash\":\"aa\"}]", "[{\"hash\":\"bb\"}]")
            .map(keys -> onlyStored(stored("null", block(1, 0, SIZE, 0, keys))).extraHashes())
            .toList();
    assertThat(extras.get(0)).isEqualTo(Hashes.EMPTY);
    assertThat(extras).doesNotHaveDuplicates();
    Stored byToken = onlyStored(stored("null", block(1, 0, SIZE, 9, "[]")));
    assertThat(byToken.extraHashes().get(0)).isNotZero();
    assertThat(byToken.salt()).isNull();
  }

  @Test
  void shouldMarkTheBlockWithTheKeyOnly_whenOthersHaveNone() throws IOException {
    Stored stored =
        onlyStored(
            stored(
                "18446744073709551615",
                block(1, 0, SIZE, 0, "[]"),
                block(2, SIZE, SIZE, 0, "[\"img\"]")));
    assertThat(stored.hashes()).isEqualTo(Hashes.wrap(1, 2));
    assertThat(stored.parent()).isEqualTo(-1);
    assertThat(stored.extraHashes().get(0)).isZero();
    assertThat(stored.extraHashes().get(1)).isNotZero();
    assertThat(stored.tokens().values()).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
  }

  @Test
  void shouldSaySoOnBothMedia_whenAMovedBlockIsRemoved() throws IOException {
    events(stored("null", block(1, 0, SIZE, 0, "[]")));
    events(
        "{\"type\":\"updated\",\"block_hash\":1,"
            + "\"cache_level\":{\"new_value\":1,\"old_value\":0}}");
    assertThat(events("{\"type\":\"removed\",\"block_hashes\":[1]}"))
        .extracting(event -> ((Removed) event).scope().medium())
        .containsExactly("GPU", "CPU");
  }

  /** One that is damaged must neither clear what is known nor silence what follows. */
  @Test
  void shouldGoOn_whenAnObjectDoesNotSayItsWindow() throws IOException {
    String removed = "{\"data\":{\"type\":\"removed\",\"block_hashes\":[1]}%s}";
    for (String window :
        List.of("4096", "null", "\"x\"", "1.5", "18446744073709551616", "4096", "512")) {
      byte[] batch =
          translator.translate(
              new ObjectMapper().readTree(removed.formatted(",\"window_size\":" + window)));
      EngineBatch decoded = (EngineBatch) EngineDecoder.forSource(SourceType.VLLM).decode(batch);
      assertThat(decoded.events()).as(window).hasSize(window.equals("512") ? 0 : 1);
    }
    assertThat(counts).isEqualTo(Map.of("removed", 6L, "skipped_window", 1L));
  }

  /** What was stored before is of a smaller window, which tells nothing of whole prefixes. */
  @Test
  void shouldClear_whenALargerWindowTurnsUp() throws IOException {
    String object = "{\"data\":%s,\"window_size\":%d}";
    ObjectMapper json = new ObjectMapper();
    String block = stored("null", block(1, 0, SIZE, 0, "[]"));
    translator.translate(json.readTree(object.formatted(block, 512)));
    byte[] batch = translator.translate(json.readTree(object.formatted(block, 4096)));
    EngineBatch decoded = (EngineBatch) EngineDecoder.forSource(SourceType.VLLM).decode(batch);
    assertThat(decoded.events())
        .extracting(event -> event.getClass().getSimpleName())
        .containsExactly("Cleared", "Stored");
  }

  @Test
  void shouldSayNothing_whenDataIsOfNoUse() throws IOException {
    for (String data :
        List.of(
            "null",
            "7",
            "{}",
            "{\"type\":\"unheard_of\"}",
            "{\"type\":\"stored\"}",
            "{\"type\":\"stored\",\"blocks\":7}",
            "{\"type\":\"removed\"}",
            "{\"type\":\"updated\",\"block_hash\":1,\"priority\":{\"new_value\":2}}",
            stored("null", "{}"),
            stored("null", block(5, 0, SIZE - 1, 0, "[]")))) {
      assertThat(events(data)).as(data).isEmpty();
    }
    assertThat(events("{\"type\":\"removed\",\"block_hashes\":[5]}")).isEmpty();
    assertThat(counts)
        .containsEntry("skipped_unknown_type", 4L)
        .containsEntry("skipped_partial_block", 3L)
        .containsEntry("updated_without_move", 1L);
  }

  private Stored onlyStored(String data) {
    try {
      List<EngineEvent> events = events(data);
      assertThat(events).hasSize(1);
      return (Stored) events.get(0);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private List<EngineEvent> events(String data) throws IOException {
    byte[] batch = translator.translate(new ObjectMapper().readTree("{\"data\":" + data + "}"));
    EngineBatch decoded = (EngineBatch) EngineDecoder.forSource(SourceType.VLLM).decode(batch);
    assertThat(decoded.rank()).isEqualTo(3);
    assertThat(decoded.skipped()).isEmpty();
    return decoded.events();
  }

  static String stored(String parent, String... blocks) {
    return "{\"type\":\"stored\",\"parent_hash\":%s,\"blocks\":[%s]}"
        .formatted(parent, String.join(",", blocks));
  }

  static String block(long hash, int from, int count, int extraId, String mmKeys) {
    String tokens =
        IntStream.range(from, from + count)
            .mapToObj(
                token ->
                    "{\"type\":\"unique_token\",\"token_id\":%d,\"token_extra_id\":%d}"
                        .formatted(token, extraId))
            .collect(Collectors.joining(","));
    return "{\"type\":\"stored_block\",\"block_hash\":%s,\"cache_level\":0,\"tokens\":[%s],\"mm_keys\":%s}"
        .formatted(Long.toUnsignedString(hash), tokens, mmKeys);
  }

  private static String text(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().toHexDigits((byte) (0xa0 + bytes.length))
        + HexFormat.of().formatHex(bytes);
  }

  private static JsonNode sample(String name) throws IOException {
    ObjectMapper json = new ObjectMapper();
    try (InputStream in =
        TrtllmTranslatorTest.class.getResourceAsStream("/vectors/wire/trtllm-json.json")) {
      for (JsonNode vector : json.readTree(in).get("vectors")) {
        if (vector.get("name").asText().equals(name)) {
          return json.readTree(HexFormat.of().parseHex(vector.get("hex").asText()));
        }
      }
    }
    throw new AssertionError("no sample " + name);
  }
}
