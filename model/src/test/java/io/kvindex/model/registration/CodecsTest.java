// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.progress.PublisherState;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CodecsTest {

  private static final PublisherId PUBLISHER = new PublisherId("vllm-1", "default", 0);

  private static final TableId TABLE = new TableId("acme", "llama", 16, HashProfile.XXH3_DEFAULT);

  @Test
  void shouldReadRegistrationsBack_whenOptionalMembersAreAbsentOrThere() {
    TableId table = new TableId("default", "deepseek", 128, HashProfile.xxh3(-1));
    Registration plain =
        new Registration(
            PUBLISHER,
            "tcp://1.1.1.1:5557",
            null,
            SourceType.VLLM,
            table,
            List.of(""),
            null,
            CopyPolicy.COUNT,
            null,
            "",
            null);
    Registration full =
        new Registration(
            PUBLISHER,
            "tcp://1.1.1.1:5557",
            "tcp://1.1.1.1:5558",
            SourceType.SGLANG,
            table,
            List.of("sql", "chat"),
            "w8a8",
            CopyPolicy.SET,
            List.of("pool"),
            "kv@",
            12L);
    assertThat(RegistrationCodec.decode(RegistrationCodec.encode(plain))).isEqualTo(plain);
    assertThat(RegistrationCodec.decode(RegistrationCodec.encode(full))).isEqualTo(full);
    assertThat(plain.defaultLora()).isNull();
    assertThat(full.defaultLora()).isEqualTo("sql");
  }

  @Test
  void shouldReadProgressBack_whenItClaimsALifeAndWhenItGoesOn() {
    BridgeProgress claim =
        new BridgeProgress(
            PUBLISHER,
            TABLE,
            SourceType.SGLANG,
            3,
            null,
            0,
            null,
            0,
            PublisherState.PENDING,
            null,
            Map.of(),
            Map.of());
    BridgeProgress later =
        new BridgeProgress(
            PUBLISHER,
            TABLE,
            SourceType.VLLM,
            3,
            17L,
            1,
            9L,
            1_760_000_000_250_000L,
            PublisherState.DEGRADED,
            "gap 4..5",
            Map.of("batches", 9L),
            Map.of(PUBLISHER.key(), 9L));
    assertThat(BridgeProgressCodec.decode(BridgeProgressCodec.encode(claim))).isEqualTo(claim);
    assertThat(BridgeProgressCodec.decode(BridgeProgressCodec.encode(later))).isEqualTo(later);
  }

  @Test
  void shouldSayMalformed_whenBytesAreNoRecord() {
    for (String text : new String[] {"", "{}", "[1]", "{\"instance_id\":3}", "\u0000"}) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      assertThatThrownBy(() -> RegistrationCodec.decode(bytes))
          .isInstanceOf(MalformedRecordException.class);
      assertThatThrownBy(() -> BridgeProgressCodec.decode(bytes))
          .isInstanceOf(MalformedRecordException.class);
    }
  }
}
