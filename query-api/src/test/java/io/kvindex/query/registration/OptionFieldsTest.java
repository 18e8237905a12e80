// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.LowerTier;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RegistrationCodec;
import io.kvindex.model.registration.RemovalScope;
import io.kvindex.model.registration.Shards;
import io.kvindex.model.registration.SourceOptions;
import io.kvindex.query.error.ApiException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptionFieldsTest {

  @Test
  void shouldReadEveryOption_whenAPoolStatesThem() {
    SourceOptions options =
        parse(
                "Mooncake",
                """
                ,"shards":{"tp":4,"kv":2},"expiry_seconds":600,
                "address_tiers":{"nvme":"DISK"},"persistent_media":["nvme"],"pool_groups":[3,0]""")
            .options();
    assertThat(options.poolGroups()).containsExactly(0, 3);
    assertThat(options.traits().shards()).as("of both groups").isEqualTo(16);
    assertThat(parse("Mooncake", "").options().poolGroups()).isNull();
    assertThat(options.shards()).isEqualTo(Shards.named(Map.of("tp", 4, "kv", 2)));
    assertThat(options.expirySeconds()).isEqualTo(600);
    assertThat(options.addressTiers()).isEqualTo(Map.of("nvme", "DISK"));
    assertThat(options.persistentMedia()).isEqualTo(Set.of("DISK"));
    assertThat(parse("Mooncake", ",\"shards\":8").options().shards()).isEqualTo(Shards.of(8));
    assertThat(parse("vLLM", ",\"lower_tier\":\"pool:mooncake-1\"").options().lowerTier())
        .isEqualTo(new LowerTier(LowerTier.Kind.POOL, "mooncake-1", 0));
  }

  @Test
  void shouldReadWhatClearsAndRemovalsMean_whenStated() {
    assertThat(parse("vLLM", "").options().clearScope()).isNull();
    assertThat(parse("vLLM", ",\"clear_scope\":\"ALL\"").options().clearScope())
        .isEqualTo(ClearScope.ALL);
    assertThat(parse("SGLang", ",\"clear_scope\":\"device\"").options().clearScope())
        .isEqualTo(ClearScope.DEVICE);
    assertThat(parse("Mooncake", "").options().removalScope()).isNull();
    assertThat(parse("Mooncake", ",\"removal_scope\":\"medium\"").options().removalScope())
        .isEqualTo(RemovalScope.MEDIUM);
  }

  @Test
  void shouldAddPaths_whenAdaptersAreLoadedLater() {
    Registration one = parse("vLLM", ",\"lora_paths\":{\"sql\":\"/m/sql\"}");
    assertThat(one.options().loraPaths()).containsExactly(Map.entry("sql", "/m/sql"));
    Registration two = parse("vLLM", ",\"lora_paths\":{\"chat\":\"/m/chat\"}");
    assertThat(RegistrationConflicts.differences(one, two)).isEmpty();
    assertThat(RegistrationConflicts.differences(one, parse("vLLM", ""))).isEmpty();
    Registration other = parse("vLLM", ",\"lora_paths\":{\"sql\":\"/other\"}");
    assertThat(RegistrationConflicts.differences(one, other).keySet())
        .containsExactly("lora_paths");
  }

  /** As Dynamo's indexer does, whatever the engine behind it would keep. */
  @Test
  void shouldClearAllTiers_whenARegistrationInDynamosFormNamesNoType() {
    assertThat(dynamo("")).isEqualTo(ClearScope.ALL);
    assertThat(dynamo(",\"copies\":\"count\",\"hash_profile\":\"xxh3\"")).isEqualTo(ClearScope.ALL);
    assertThat(dynamo(",\"clear_scope\":\"device\"")).isEqualTo(ClearScope.DEVICE);
    assertThat(dynamo(",\"type\":\"vLLM\"")).as("as that engine means it").isNull();
    assertThat(dynamo(",\"type\":\"SGLang\"")).isNull();
  }

  private static @Nullable ClearScope dynamo(String more) {
    String body =
        """
        {"endpoint":"tcp://h:1","model_name":"m","instance_id":7,"block_size":16%s}"""
            .formatted(more);
    Registration read =
        DynamoRequest.parseRegister(body.getBytes(StandardCharsets.UTF_8)).registration();
    assertThat(RegistrationCodec.decode(RegistrationCodec.encode(read)))
        .as("other processes see the same")
        .isEqualTo(read);
    return read.options().clearScope();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      textBlock =
          """
          vLLM ~ "lower_tier":"none"                 ~ lower_tier       ~ pool:<instance_id>
          vLLM ~ "lower_tier":"ttl:0"                ~ lower_tier       ~ 1 to 2592000 seconds
          Mooncake ~ "lower_tier":"own"              ~ lower_tier       ~ not for type Mooncake
          vLLM ~ "expiry_seconds":3                  ~ expiry_seconds   ~ type Mooncake only
          Mooncake ~ "expiry_seconds":-1             ~ expiry_seconds   ~ must be 0 to 2592000
          vLLM ~ "shards":3                          ~ shards           ~ type Mooncake only
          Mooncake ~ "shards":0                      ~ shards           ~ must be 1 to 64
          Mooncake ~ "shards":"4"                    ~ shards           ~ must be an integer
          Mooncake ~ "shards":{"tp":"4"}             ~ shards           ~ an integer as "tp"
          Mooncake ~ "shards":{"gpu":4}              ~ shards           ~ but has "gpu"
          Mooncake ~ "shards":{"tp":8,"layers":61}   ~ shards           ~ 64 objects at most
          Mooncake ~ "address_tiers":["nvme"]        ~ address_tiers    ~ an object
          Mooncake ~ "address_tiers":{"nvme":1}      ~ address_tiers    ~ to media
          vLLM ~ "pool_groups":[0]                   ~ pool_groups      ~ type Mooncake only
          Mooncake ~ "pool_groups":0                 ~ pool_groups      ~ an array
          Mooncake ~ "pool_groups":[]                ~ pool_groups      ~ 1 to 16 groups
          Mooncake ~ "pool_groups":["0"]             ~ pool_groups      ~ integers of 0 to 999999
          Mooncake ~ "pool_groups":[-1]              ~ pool_groups      ~ integers of 0 to 999999
          Mooncake ~ "pool_groups":[0,1,2],"shards":32 ~ pool_groups    ~ 1 to 2 groups
          vLLM ~ "removal_scope":"medium"            ~ removal_scope    ~ type Mooncake only
          Mooncake ~ "removal_scope":"cpu"           ~ removal_scope    ~ must be all or medium
          Mooncake ~ "clear_scope":"all"             ~ clear_scope      ~ not for type Mooncake
          KVEvents ~ "clear_scope":"all"             ~ clear_scope      ~ not for type KVEvents
          vLLM ~ "clear_scope":"stream"              ~ clear_scope      ~ device, device_and_host or all
          vLLM ~ "lora_paths":["/a"]                 ~ lora_paths       ~ an object
          vLLM ~ "lora_paths":{"a":""}               ~ lora_paths       ~ must map names to texts
          vLLM ~ "lora_paths":{"a":7}                ~ lora_paths       ~ must map names to texts
          Mooncake ~ "lora_paths":{"a":"/a"}         ~ lora_paths       ~ not for type Mooncake
          vLLM ~ "persistent_media":["GPU"]          ~ persistent_media ~ "GPU"
          vLLM ~ "persistent_media":"DISK"           ~ persistent_media ~ an array
          """)
  void shouldNameTheMember_whenItCanNotBe(String type, String member, String field, String says) {
    assertThatThrownBy(() -> parse(type, "," + member))
        .isInstanceOfSatisfying(
            ApiException.class,
            e -> {
              assertThat(e.field()).isEqualTo(field);
              assertThat(e).hasMessageContaining(says);
            });
  }

  @Test
  void shouldNameEveryDifference_whenOptionsDiffer() {
    Registration old = parse("Mooncake", "");
    Registration wanted =
        parse(
            "Mooncake",
            """
            ,"removal_scope":"all","shards":2,"expiry_seconds":6,"address_tiers":{"a":"b"},"persistent_media":["DISK"],"pool_groups":[1]""");
    assertThat(RegistrationConflicts.differences(old, wanted).keySet())
        .containsExactly(
            "persistent_media",
            "shards",
            "expiry_seconds",
            "address_tiers",
            "pool_groups",
            "removal_scope");
    assertThat(RegistrationConflicts.differences(wanted, wanted)).isEmpty();
    assertThat(
            RegistrationConflicts.differences(
                parse("vLLM", ""), parse("vLLM", ",\"lower_tier\":\"ttl:5\"")))
        .containsEntry("lower_tier", "lower_tier (own, now ttl:5)");
  }

  private static Registration parse(String type, String more) {
    String body =
        """
        {"endpoint":"tcp://h:1","type":"%s","modelname":"m","instance_id":"e","block_size":16%s}"""
            .formatted(type, more);
    return RegisterRequest.parse(body.getBytes(StandardCharsets.UTF_8), HashProfile.XXH3_DEFAULT)
        .registration();
  }
}
