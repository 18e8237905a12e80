// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.BridgeProgressCodec;
import io.kvindex.model.progress.Connection;
import io.kvindex.model.progress.GroupSpec;
import io.kvindex.model.progress.LogPosition;
import io.kvindex.model.progress.PublisherState;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
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
            SourceOptions.of(CopyPolicy.COUNT),
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
            new SourceOptions(
                CopyPolicy.SET,
                List.of("pool"),
                "kv@",
                Set.of("nvme"),
                LowerTier.parse("ttl:60"),
                Shards.named(Map.of("tp", 4, "kv", 2)),
                30,
                Map.of("nvme", "disk"),
                List.of(2, 0),
                ClearScope.DEVICE_AND_HOST,
                RemovalScope.MEDIUM,
                Map.of("sql", "/models/sql"),
                false),
            12L);
    assertThat(RegistrationCodec.decode(RegistrationCodec.encode(plain))).isEqualTo(plain);
    assertThat(RegistrationCodec.decode(RegistrationCodec.encode(full))).isEqualTo(full);
    assertThat(plain.defaultLora()).isNull();
    assertThat(full.defaultLora()).isEqualTo("sql");
  }

  /** Such values are in users' topics. */
  @Test
  void shouldReadRegistrationsOfOldBuilds_whenNewerMembersAreMissing() {
    String written =
        """
        {"v":1,"instance_id":"vllm-1","tenant_id":"default","dp_rank":0,
         "endpoint":"tcp://1.1.1.1:5557","type":"vLLM","table_tenant_id":"acme",
         "modelname":"llama","block_size":16,"hash_algorithm":"xxh3","hash_seed":"1337",
         "lora_names":[""],"copies":"count","topic":""}""";
    assertThat(RegistrationCodec.decode(written.getBytes(StandardCharsets.UTF_8)))
        .isEqualTo(
            new Registration(
                PUBLISHER,
                "tcp://1.1.1.1:5557",
                null,
                SourceType.VLLM,
                TABLE,
                List.of(""),
                null,
                SourceOptions.defaultFor(SourceType.VLLM),
                null));
  }

  /** Dynamo's own clear empties all tiers; what it says of clears older records could not hold. */
  @Test
  void shouldClearAllTiers_whenAnOldRecordIsOfDynamosDialectWithoutAType() {
    String dynamo =
        """
        {"v":1,"instance_id":"7","tenant_id":"default","dp_rank":0,
         "endpoint":"tcp://1.1.1.1:5557","type":"vLLM","modelname":"llama","block_size":16,
         "hash_algorithm":"xxh3_dynamo","hash_seed":"1337","lora_names":[""],"copies":"set"}""";
    assertThat(clearScope(dynamo)).isEqualTo(ClearScope.ALL);
    assertThat(clearScope(dynamo.replace("\"set\"", "\"count\""))).isNull();
    assertThat(clearScope(dynamo.replace("vLLM", "SGLang"))).isNull();
    assertThat(clearScope(dynamo.replace("xxh3_dynamo", "xxh3"))).isNull();
    assertThat(clearScope(dynamo.replace("\"v\":1", "\"v\":2"))).isNull();
    assertThat(clearScope(dynamo.replace("\"v\":1", "\"v\":2,\"clear_scope\":\"device\"")))
        .isEqualTo(ClearScope.DEVICE);
  }

  private static @Nullable ClearScope clearScope(String json) {
    return RegistrationCodec.decode(json.getBytes(StandardCharsets.UTF_8)).options().clearScope();
  }

  @Test
  void shouldFindTheType_whenItIsSpeltInAnotherWay() {
    for (String name :
        new String[] {"TensorRT-LLM", "tensorrt_llm", "TensorRTLLM", "TRT-LLM", "trtllm"}) {
      assertThat(SourceType.byWireName(name)).as(name).contains(SourceType.TENSORRT_LLM);
    }
    for (SourceType type : SourceType.values()) {
      assertThat(SourceType.byWireName(type.wireName())).contains(type);
      assertThat(SourceType.byWireName(type.name())).contains(type);
      assertThat(SourceType.byCode(type.code())).isEqualTo(type);
    }
    assertThat(SourceType.byWireName("tensorrt")).isEmpty();
    assertThat(SourceType.byWireName("")).isEmpty();
  }

  @Test
  void shouldRefuseOptions_whenTheyCanNotBe() {
    for (String text : new String[] {"", "own:1", "pool:", "ttl:0", "ttl:x", "ttl:9999999"}) {
      assertThatThrownBy(() -> LowerTier.parse(text))
          .as(text)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("own, pool:<instance_id> or ttl:<seconds>");
    }
    for (String text : new String[] {"own", "pool:a:b", "ttl:30"}) {
      assertThat(LowerTier.parse(text).text()).isEqualTo(text);
    }
    assertThatThrownBy(() -> Shards.named(Map.of("tp", 8, "layers", 9)))
        .hasMessageContaining("64 objects");
    assertThatThrownBy(() -> Shards.of(0)).isInstanceOf(IllegalArgumentException.class);
    assertThat(Shards.named(Map.of("tp", 8, "layers", 8)).count()).isEqualTo(64);
    assertThatThrownBy(() -> pool(Shards.of(33), List.of(0, 1))).hasMessageContaining("66 objects");
    assertThatThrownBy(() -> pool(null, List.of())).isInstanceOf(IllegalArgumentException.class);
    assertThat(pool(Shards.of(32), List.of(1, 0, 1)).traits().shards()).isEqualTo(64);
  }

  private static SourceOptions pool(@Nullable Shards shards, List<Integer> groups) {
    return new SourceOptions(
        CopyPolicy.SET,
        null,
        "",
        Set.of(),
        LowerTier.OWN,
        shards,
        0,
        Map.of(),
        groups,
        null,
        null,
        Map.of(),
        false);
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
            Map.of(),
            List.of(),
            null,
            41L,
            null);
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
            Map.of(PUBLISHER.key(), 9L),
            List.of(new GroupSpec(1, "sliding_window", 16, 128), new GroupSpec(0, null, 0, null)),
            new Connection(true, 1_760_000_000_100_000L, false),
            41L,
            new LogPosition(1_234, -5));
    assertThat(BridgeProgressCodec.decodeGroups(BridgeProgressCodec.encodeGroups(later.groups())))
        .isEqualTo(later.groups());
    assertThat(BridgeProgressCodec.decode(BridgeProgressCodec.encode(claim))).isEqualTo(claim);
    assertThat(BridgeProgressCodec.decode(BridgeProgressCodec.encode(later))).isEqualTo(later);
  }

  @Test
  void shouldReadProgressOfOldBuilds_whenNewerMembersAreMissing() {
    String written =
        """
        {"v":1,"instance_id":"vllm-1","tenant_id":"default","dp_rank":0,"type":"vLLM",
         "table_tenant_id":"acme","modelname":"llama","block_size":16,"hash_algorithm":"xxh3",
         "hash_seed":"1337","generation":3,"life":17,"clears":0,"last_sequence":9,
         "last_time_us":5,"state":"active"}""";
    BridgeProgress old = BridgeProgressCodec.decode(written.getBytes(StandardCharsets.UTF_8));
    assertThat(old.lastSequence()).isEqualTo(9);
    assertThat(old.lastIds()).isEmpty();
    assertThat(old.groups()).isEmpty();
    assertThat(old.connection()).isNull();
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
