// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.bridge.decode.EngineBatch;
import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.EngineEvent.Removed;
import io.kvindex.bridge.decode.EngineEvent.Stored;
import io.kvindex.model.SourceType;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.Parent;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
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
  void shouldWriteTheseBytes_whenGivenASample(String sample, String outcome) throws Exception {
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
  void shouldKeepBlocksApart_whenTheirMultimodalKeysDiffer() throws Exception {
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
  void shouldMarkTheBlockWithTheKeyOnly_whenOthersHaveNone() throws Exception {
    Stored stored =
        onlyStored(
            stored(
                "18446744073709551615",
                block(1, 0, SIZE, 0, "[]"),
                block(2, SIZE, SIZE, 0, "[\"img\"]")));
    assertThat(stored.hashes()).isEqualTo(Hashes.of(1, 2));
    assertThat(stored.parent()).isEqualTo(Parent.of(-1));
    assertThat(stored.extraHashes().get(0)).isZero();
    assertThat(stored.extraHashes().get(1)).isNotZero();
    assertThat(stored.tokens().first(2 * SIZE)).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
  }

  @Test
  void shouldSaySoOnBothMedia_whenAMovedBlockIsRemoved() throws Exception {
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
  void shouldGoOn_whenAnObjectDoesNotSayItsWindow() throws Exception {
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
  void shouldClear_whenALargerWindowTurnsUp() throws Exception {
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
  void shouldSayNothing_whenDataIsOfNoUse() throws Exception {
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
            stored("null", block(5, 0, SIZE - 1, 0, "[]")))) {
      assertThat(events(data)).as(data).isEmpty();
    }
    assertThat(events("{\"type\":\"removed\",\"block_hashes\":[5]}")).isEmpty();
    assertThat(counts)
        .containsEntry("skipped_unknown_type", 4L)
        .containsEntry("skipped_partial_block", 2L)
        .containsEntry("updated_without_move", 1L);
  }

  /**
   * Hex of a SHA-256 ({@code v2_sha256}) in every place, mixed with numbers as other builds send.
   */
  @Test
  void shouldNameBlocksAlike_whenHashesAreHexDigits() throws Exception {
    String a = "8aacae47f66585ed".repeat(4);
    String b = "0123456789abcdef".repeat(4);
    List<EngineEvent> stored =
        events(stored("\"" + a + "\"", named("\"" + b + "\""), named("7"), named("\"0x8\"")));
    assertThat(((Stored) stored.get(0)).parent()).isEqualTo(Parent.of(0x8aacae47f66585edL));
    assertThat(((Stored) stored.get(0)).hashes()).isEqualTo(Hashes.of(0x0123456789abcdefL, 7, 8));
    List<EngineEvent> removed =
        events("{\"type\":\"removed\",\"block_hashes\":[\"%s\",\"7\"]}".formatted(b.toUpperCase()));
    assertThat(((Removed) removed.get(0)).hashes()).isEqualTo(Hashes.of(0x0123456789abcdefL, 7));
    List<EngineEvent> moved =
        events(
            "{\"type\":\"updated\",\"block_hash\":\"%s\",\"cache_level\":{\"new_value\":1,\"old_value\":0}}"
                .formatted(a));
    assertThat(((Stored) moved.get(1)).hashes()).isEqualTo(Hashes.of(0x8aacae47f66585edL));
  }

  @Test
  void shouldKeepBlocksApart_whenTheyStateSaltsAndAdapters() throws Exception {
    List<EngineEvent> events =
        events(
            stored(
                "null",
                with(block(1, 0, SIZE, 0, "[]"), "\"cache_salt\":\"s1\",\"lora_id\":0"),
                block(2, 0, SIZE, 0, "[]"),
                with(block(3, 0, SIZE, 0, "[]"), "\"lora_id\":4,\"lora_name\":\"sql\"")));
    Stored first = (Stored) events.get(0);
    Stored second = (Stored) events.get(1);
    assertThat(first.hashes())
        .as("what it does not state is as before it")
        .isEqualTo(Hashes.of(1, 2));
    assertThat(first.salt()).isEqualTo("s1");
    assertThat(first.adapter().id()).as("0 is an adapter").isEqualTo(0);
    assertThat(second.hashes()).isEqualTo(Hashes.of(3));
    assertThat(second.parent()).isEqualTo(Parent.of(2));
    assertThat(second.salt()).isEqualTo("s1");
    assertThat(second.adapter().name()).isEqualTo("sql");

    String event = stored("null", block(1, 0, SIZE, 0, "[]"));
    Stored whole = onlyStored(with(event, "\"cache_salt\":\"s2\",\"lora_id\":-1"));
    assertThat(whole.salt()).as("stated for all blocks at once").isEqualTo("s2");
    assertThat(whole.adapter().id()).isEqualTo(EngineEvent.Adapter.NO_ID);
    assertThat(onlyStored(with(event, "\"cache_salt\":null,\"cache_salt_id\":0")).salt()).isNull();
  }

  @Test
  void shouldKeepTheBlockApart_whenATokenIsADigest() throws Exception {
    String image = block(1, 0, SIZE, 0, "[]").replace("\"token_id\":2", "\"token_id\":\"ab12\"");
    assertThat(onlyStored(stored("null", image)).extraHashes().get(0)).isNotZero();
  }

  /** The first group is often one of a sliding window; only windows tell. */
  @Test
  void shouldIndexTheGroupOfTheLargestWindow_whenBlocksAreInLayerGroups() throws Exception {
    String block = stored("null", block(1, 0, SIZE, 0, "[]"));
    String removed = "{\"type\":\"removed\",\"block_hashes\":[1]}";
    assertThat(kinds(block, 512, 0)).containsExactly("Stored");
    assertThat(kinds(block, 4096, 2)).containsExactly("Cleared", "Stored");
    assertThat(kinds(block, 4096, 3)).isEmpty();
    assertThat(kinds(removed, 512, 0)).isEmpty();
    assertThat(kinds(removed, 4096, 3)).isEmpty();
    assertThat(kinds(removed, 4096, 2)).containsExactly("Removed");
    assertThat(kinds(removed, 4096, null)).as("of whichever group").containsExactly("Removed");
    assertThat(kinds(block, 4096, null)).isEmpty();
    assertThat(kinds(block, 4096, 1))
        .as("a lower one of that window")
        .containsExactly("Cleared", "Stored");
    assertThat(kinds(block, 4096, 2)).isEmpty();
    assertThat(counts)
        .containsEntry("skipped_window", 1L)
        .containsEntry("skipped_layer_group", 4L)
        .containsEntry("stored", 3L);
  }

  @Test
  void shouldIndexNone_whenNothingTellsWhatALayerGroupIs() throws Exception {
    String block = block(1, 0, SIZE, 0, "[]");
    assertThat(kinds(stored("null", block), null, 0)).isEmpty();
    assertThat(kinds(stored("null", with(block, "\"layer_group_id\":0")), null, null)).isEmpty();
    assertThat(counts).isEqualTo(Map.of("skipped_layer_group", 2L));
    assertThat(
            kinds(
                stored(
                    "null",
                    with(block, "\"layer_group_id\":1"),
                    with(block(2, 0, SIZE, 0, "[]"), "\"layer_group_id\":2")),
                4096,
                null))
        .as("each block by itself")
        .containsExactly("Stored");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          "block_hash":1            ~ "block_hash":"xyz"            ~ block_hash
          "block_hash":1            ~ "block_hash":1.5              ~ block_hash
          "block_hash":1            ~ "block_hash":36893488147419103232 ~ block_hash
          "block_hash":1            ~ "hash":1                      ~ block_hash
          "parent_hash":null        ~ "parent_hash":true            ~ parent_hash
          "cache_level":0           ~ "cache_salt":7                ~ cache_salt
          "cache_level":0           ~ "cache_salt_id":7             ~ cache_salt
          "cache_level":0           ~ "lora_id":"sql"               ~ lora_id
          "cache_level":0           ~ "lora_id":-2                  ~ lora_id
          "cache_level":0           ~ "layer_group_id":"full"       ~ layer_group_id
          "token_id":2              ~ "token_id":-2                 ~ token_id
          "token_id":2              ~ "token_id":null               ~ token_id
          """)
  void shouldRefuse_whenAMemberOfABlockCannotBeRead(String was, String is, String member) {
    String event = stored("null", block(1, 0, SIZE, 0, "[]")).replace(was, is);
    assertThatThrownBy(() -> events(event))
        .isInstanceOf(UnreadableEvent.class)
        .hasMessageContaining("`" + member);
    assertThatThrownBy(() -> events("{\"type\":\"removed\",\"block_hashes\":[null]}"))
        .isInstanceOf(UnreadableEvent.class);
  }

  private List<String> kinds(String data, @Nullable Integer window, @Nullable Integer group)
      throws Exception {
    byte[] batch =
        translator.translate(
            new ObjectMapper()
                .readTree(
                    "{\"data\":%s,\"window_size\":%s,\"layer_group_id\":%s}"
                        .formatted(data, window, group)));
    EngineBatch decoded =
        (EngineBatch) EngineDecoder.forSource(SourceType.TENSORRT_LLM).decode(batch);
    return decoded.events().stream().map(event -> event.getClass().getSimpleName()).toList();
  }

  private static String named(String hash) {
    return block(1, 0, SIZE, 0, "[]").replace("\"block_hash\":1", "\"block_hash\":" + hash);
  }

  private static String with(String object, String members) {
    return object.substring(0, object.length() - 1) + "," + members + "}";
  }

  private Stored onlyStored(String data) {
    try {
      List<EngineEvent> events = events(data);
      assertThat(events).hasSize(1);
      return (Stored) events.get(0);
    } catch (IOException | UnreadableEvent e) {
      throw new AssertionError(e);
    }
  }

  private List<EngineEvent> events(String data) throws IOException, UnreadableEvent {
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
