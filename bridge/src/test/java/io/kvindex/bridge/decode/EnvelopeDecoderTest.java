// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.bridge.decode.EngineBatch.Skipped;
import io.kvindex.bridge.decode.WireVectors.Vector;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

class EnvelopeDecoderTest {

  @Test
  void shouldReadEveryMember_whenThePublisherSpeaksTheStandard() {
    int seen = 0;
    for (Vector vector : WireVectors.all()) {
      if (vector.engine().equals("rfc1527")) {
        EngineBatch batch = (EngineBatch) vector.decoder().decode(vector.payload());
        for (int i = 0; i < batch.events().size(); i++) {
          Envelope envelope = ((EngineEvent.Enveloped) batch.events().get(i)).envelope();
          JsonNode expected = vector.expected().get("events").get(i);
          assertThat(envelope.eventId()).isEqualTo(expected.get("eventId").asLong());
          assertThat(envelope.model()).isEqualTo(expected.get("model").asText());
          assertThat(envelope.blockSize()).isEqualTo(64);
          assertThat(envelope.tenantId()).isEqualTo(expected.get("tenant").asText());
          assertThat(envelope.backendId()).isEqualTo(expected.get("backendId").asText());
          assertThat(envelope.medium()).isEqualTo(expected.get("medium").asText());
          assertThat(envelope.dpRank()).isEqualTo(expected.get("dpRank").asInt());
          assertThat(envelope.additionalSalt()).isNull();
          assertThat(envelope.loraName()).isNull();
          assertThat(envelope.baseBlockIdx())
              .isEqualTo(expected.has("baseBlockIdx") ? expected.get("baseBlockIdx").asLong() : -1);
          seen++;
        }
      }
    }
    assertThat(seen).isEqualTo(3);
  }

  @Test
  void shouldLeaveEventsOut_whenNothingSaysWhereInTheirStreamTheyBelong() throws IOException {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(2).packDouble(1).packArrayHeader(3);
      out.packMapHeader(1).packString("event_type").packString("cleared");
      out.packMapHeader(2).packString("event_type").packString("cleared");
      out.packString("event_id").packLong(-1); // everything after it would be late
      out.packMapHeader(2).packString("event_type").packString("cleared");
      out.packString("event_id").packLong(7);
      EngineBatch batch = (EngineBatch) EngineDecoder.STANDARD.decode(out.toByteArray());
      assertThat(batch.events()).hasSize(1);
      assertThat(batch.skipped())
          .isEqualTo(
              List.of(
                  new Skipped(0, SkipReason.MALFORMED, true),
                  new Skipped(1, SkipReason.MALFORMED, true)));
    }
  }
}
