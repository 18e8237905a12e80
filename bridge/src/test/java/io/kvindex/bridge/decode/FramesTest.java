// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FramesTest {

  private static final JsonNode SAMPLES = WireVectors.resource("frames.json");

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "live, kv@10.0.0.7@deepseek, 0",
        "live_empty_topic, '', 258",
        "mooncake_first, '', 1",
      })
  void shouldTakeLiveMessageApart_whenWellFormed(String sample, String topic, long sequence) {
    assertBatch(Frames.live(frames(SAMPLES.get(sample).get("frames")), 1), topic, sequence);
  }

  @ParameterizedTest
  @CsvSource({"replay_reply_vllm_new, kv@p@m", "replay_reply_old, ''"})
  void shouldTakeReplayApart_whenEitherFraming(String sample, String topic) {
    assertBatch(Frames.replay(frames(SAMPLES.get(sample).get("frames")), 1), topic, 5);
  }

  @ParameterizedTest
  @CsvSource({"replay_end_vllm_new", "replay_end_old"})
  void shouldSeeTheEnd_whenPayloadIsEmpty(String sample) {
    assertThat(Frames.replay(frames(SAMPLES.get(sample).get("frames")), 1))
        .isEqualTo(Frame.End.INSTANCE);
  }

  @Test
  void shouldSayWhy_whenMessageIsMalformed() {
    JsonNode bad = SAMPLES.get("bad");
    assertThat(Frames.live(frames(bad.get("two_frames")), 1)).isEqualTo(Frame.Bad.TOO_FEW_FRAMES);
    assertThat(Frames.live(frames(bad.get("short_sequence")), 1)).isEqualTo(Frame.Bad.BAD_SEQUENCE);
    assertThat(Frames.live(List.of(), 1)).isEqualTo(Frame.Bad.TOO_FEW_FRAMES);
    assertThat(Frames.replay(frames(bad.get("two_frames")), 1)).isEqualTo(Frame.Bad.BAD_SEQUENCE);
    assertThat(Frames.replay(List.of(new byte[0]), 1)).isEqualTo(Frame.Bad.TOO_FEW_FRAMES);
  }

  @Test
  void shouldTolerateFourthLiveFrame_whenStreamIdFollows() {
    List<byte[]> frames = frames(SAMPLES.get("bad").get("four_frames_snapshot_stream_id"));
    assertBatch(Frames.live(frames, 1), "kv@p@m", 7);
  }

  @Test
  void shouldRefuseEndMarkersSequence_whenItCarriesPayload() {
    byte[] end = HexFormat.of().parseHex("ffffffffffffffff");
    byte[] payload = {(byte) 0x92, 1, (byte) 0x90};
    assertThat(Frames.replay(List.of(new byte[0], end, payload), 1))
        .isEqualTo(Frame.Bad.BAD_SEQUENCE);
  }

  private static void assertBatch(Frame frame, String topic, long sequence) {
    assertThat(frame).isInstanceOf(RawBatch.class);
    RawBatch batch = (RawBatch) frame;
    assertThat(batch.topic()).isEqualTo(topic);
    assertThat(batch.sequence()).isEqualTo(sequence);
    assertThat(EngineDecoder.VLLM.decode(batch.payload())).isInstanceOf(EngineBatch.class);
  }

  private static List<byte[]> frames(JsonNode hexes) {
    List<byte[]> frames = new ArrayList<>();
    hexes.forEach(hex -> frames.add(HexFormat.of().parseHex(hex.asText())));
    return frames;
  }
}
