// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.kvindex.model.CopyPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.KvEvent.ClearScope;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordJson;
import io.kvindex.model.hash.HashProfile;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * JSON form of {@link Registration}, member names as the HTTP API has them. Unknown members are
 * ignored. Thread-safe.
 */
public final class RegistrationCodec {

  /**
   * Newest version written; older ones stay readable. Since 2 a registration says what a clear
   * empties where its type does not.
   */
  public static final int VERSION = 2;

  private static final int WITH_CLEAR_SCOPE = 2;

  private RegistrationCodec() {}

  /** The bytes to send. */
  public static byte[] encode(Registration registration) {
    return RecordJson.encode(Wire.of(registration));
  }

  /**
   * Reads a registration back.
   *
   * @throws MalformedRecordException if the bytes are no registration
   */
  public static Registration decode(byte[] bytes) {
    return RecordJson.decode(bytes, Wire.class, Wire::toRegistration, "not a registration");
  }

  private record Wire(
      @JsonProperty("v") int version,
      @JsonProperty("instance_id") String instanceId,
      @JsonProperty("tenant_id") String tenantId,
      @JsonProperty("dp_rank") int dpRank,
      @JsonProperty("endpoint") String endpoint,
      @JsonProperty("replay_endpoint") @Nullable String replayEndpoint,
      @JsonProperty("type") String type,
      @JsonProperty("table_tenant_id") @Nullable String tableTenantId,
      @JsonProperty("modelname") String model,
      @JsonProperty("block_size") int blockSize,
      @JsonProperty("hash_algorithm") String hashAlgorithm,
      @JsonProperty("hash_seed") String hashSeed,
      @JsonProperty("lora_names") List<String> loraNames,
      @JsonProperty("additionalsalt") @Nullable String namespace,
      @JsonProperty("copies") String copies,
      @JsonProperty("pools") @Nullable List<String> pools,
      @JsonProperty("topic") @Nullable String topic,
      @JsonProperty("persistent_media") @Nullable Set<String> persistentMedia,
      @JsonProperty("lower_tier") @Nullable String lowerTier,
      @JsonProperty("shards") @Nullable Map<String, Integer> shards,
      @JsonProperty("expiry_seconds") @Nullable Integer expirySeconds,
      @JsonProperty("address_tiers") @Nullable Map<String, String> addressTiers,
      @JsonProperty("pool_groups") @Nullable List<Integer> poolGroups,
      @JsonProperty("clear_scope") @Nullable String clearScope,
      @JsonProperty("removal_scope") @Nullable String removalScope,
      @JsonProperty("lora_paths") @Nullable Map<String, String> loraPaths,
      @JsonProperty("detached") @Nullable Boolean detached,
      @JsonProperty("continues") @Nullable Long continues) {

    static Wire of(Registration r) {
      return new Wire(
          VERSION,
          r.publisher().instanceId(),
          r.publisher().tenantId(),
          r.publisher().dpRank(),
          r.endpoint(),
          r.replayEndpoint(),
          r.type().wireName(),
          r.table().tenantId(),
          r.table().model(),
          r.table().blockSize(),
          r.table().hashProfile().algorithm().wireName(),
          r.table().hashProfile().seed(),
          r.loraNames(),
          r.namespace(),
          r.options().copies().name().toLowerCase(Locale.ROOT),
          r.options().pools(),
          r.options().topic(),
          r.options().persistentMedia(),
          r.options().lowerTier().text(),
          shards(r.options().shards()),
          r.options().expirySeconds(),
          r.options().addressTiers(),
          r.options().poolGroups(),
          name(r.options().clearScope()),
          name(r.options().removalScope()),
          r.options().loraPaths(),
          r.options().detached() ? true : null,
          r.continues());
    }

    Registration toRegistration() {
      HashProfile.Algorithm algorithm =
          HashProfile.Algorithm.valueOf(hashAlgorithm.toUpperCase(Locale.ROOT));
      String tableTenant = tableTenantId == null ? tenantId : tableTenantId;
      return new Registration(
          new PublisherId(instanceId, tenantId, dpRank),
          endpoint,
          replayEndpoint,
          SourceType.byWireName(type)
              .orElseThrow(() -> new IllegalArgumentException("unknown type " + type)),
          new TableId(tableTenant, model, blockSize, new HashProfile(algorithm, hashSeed)),
          loraNames,
          namespace,
          options(),
          continues);
    }

    private static @Nullable String name(@Nullable Enum<?> value) {
      return value == null ? null : value.name().toLowerCase(Locale.ROOT);
    }

    /**
     * Before the member was there, registrations in Dynamo's form that name no type were those of
     * its hash rule whose repeated stores do not count.
     */
    private @Nullable ClearScope clears() {
      if (clearScope != null) {
        return ClearScope.valueOf(clearScope.toUpperCase(Locale.ROOT));
      }
      boolean dynamo =
          type.equalsIgnoreCase(SourceType.VLLM.wireName())
              && hashAlgorithm.equalsIgnoreCase(HashProfile.Algorithm.XXH3_DYNAMO.wireName())
              && copies.equalsIgnoreCase(CopyPolicy.SET.name());
      return version < WITH_CLEAR_SCOPE && dynamo ? ClearScope.ALL : null;
    }

    private static @Nullable Map<String, Integer> shards(@Nullable Shards shards) {
      return shards == null ? null : shards.byName();
    }

    /** Records of older versions lack the newer members. */
    private SourceOptions options() {
      return new SourceOptions(
          CopyPolicy.valueOf(copies.toUpperCase(Locale.ROOT)),
          pools,
          topic == null ? "" : topic,
          persistentMedia == null ? Set.of() : persistentMedia,
          lowerTier == null ? LowerTier.OWN : LowerTier.parse(lowerTier),
          shards == null ? null : Shards.named(shards),
          expirySeconds == null ? 0 : expirySeconds,
          addressTiers == null ? Map.of() : addressTiers,
          poolGroups,
          clears(),
          removalScope == null ? null : RemovalScope.valueOf(removalScope.toUpperCase(Locale.ROOT)),
          loraPaths == null ? Map.of() : loraPaths,
          detached != null && detached);
    }
  }
}
