// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.progress;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordJson;
import io.kvindex.model.hash.HashProfile;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON form of {@link BridgeProgress}. Unknown members are ignored. Thread-safe. */
public final class BridgeProgressCodec {

  /**
   * Newest version written; older ones stay readable. 2 tells of the connection, 3 of what is told
   * once more, 4 of the place in the events log, 5 whether who is connected is known.
   */
  public static final int VERSION = 5;

  private BridgeProgressCodec() {}

  /** The bytes to send. */
  public static byte[] encode(BridgeProgress progress) {
    return RecordJson.encode(Wire.of(progress));
  }

  /**
   * Reads progress back.
   *
   * @throws MalformedRecordException if the bytes are no progress record
   */
  public static BridgeProgress decode(byte[] bytes) {
    return RecordJson.decode(bytes, Wire.class, Wire::toProgress, "not a progress record");
  }

  /** Attention groups alone. */
  public static byte[] encodeGroups(List<GroupSpec> groups) {
    return RecordJson.encode(groups.stream().map(Group::of).toList());
  }

  /**
   * Reads {@link #encodeGroups} back.
   *
   * @throws MalformedRecordException if the bytes are no groups
   */
  public static List<GroupSpec> decodeGroups(byte[] bytes) {
    return RecordJson.decode(
        bytes,
        Group[].class,
        groups -> Arrays.stream(groups).map(Group::toSpec).toList(),
        "not attention groups");
  }

  private record Wire(
      @JsonProperty("v") int version,
      @JsonProperty("instance_id") String instanceId,
      @JsonProperty("tenant_id") String tenantId,
      @JsonProperty("dp_rank") int dpRank,
      @JsonProperty("type") String type,
      @JsonProperty("table_tenant_id") String tableTenantId,
      @JsonProperty("modelname") String model,
      @JsonProperty("block_size") int blockSize,
      @JsonProperty("hash_algorithm") String hashAlgorithm,
      @JsonProperty("hash_seed") String hashSeed,
      @JsonProperty("generation") long generation,
      @JsonProperty("life") @Nullable Long life,
      @JsonProperty("clears") long clears,
      @JsonProperty("last_sequence") @Nullable Long lastSequence,
      @JsonProperty("last_time_us") long lastTimeMicros,
      @JsonProperty("state") String state,
      @JsonProperty("last_error") @Nullable String lastError,
      @JsonProperty("counters") @Nullable Map<String, Long> counters,
      @JsonProperty("last_ids") @Nullable Map<String, Long> lastIds,
      @JsonProperty("groups") @Nullable List<Group> groups,
      @JsonProperty("connected") @Nullable Boolean connected,
      @JsonProperty("connection_since_us") @Nullable Long connectionSinceMicros,
      @JsonProperty("connection_proven") @Nullable Boolean connectionProven,
      @JsonProperty("retells_until") @Nullable Long retellsUntil,
      @JsonProperty("log_next") @Nullable Long logNext,
      @JsonProperty("last_fingerprint") @Nullable Long lastFingerprint) {

    static Wire of(BridgeProgress p) {
      Connection connection = p.connection();
      LogPosition log = p.log();
      return new Wire(
          VERSION,
          p.publisher().instanceId(),
          p.publisher().tenantId(),
          p.publisher().dpRank(),
          p.type().wireName(),
          p.table().tenantId(),
          p.table().model(),
          p.table().blockSize(),
          p.table().hashProfile().algorithm().wireName(),
          p.table().hashProfile().seed(),
          p.generation(),
          p.life(),
          p.clears(),
          p.lastSequence(),
          p.lastTimeMicros(),
          p.state().wireName(),
          p.lastError(),
          p.counters(),
          p.lastIds(),
          p.groups().isEmpty() ? null : p.groups().stream().map(Group::of).toList(),
          connection == null ? null : connection.up(),
          connection == null ? null : connection.sinceMicros(),
          connection == null ? null : connection.proven(),
          p.retellsUntil(),
          log == null ? null : log.next(),
          log == null || log.fingerprint() == 0 ? null : log.fingerprint());
    }

    BridgeProgress toProgress() {
      HashProfile.Algorithm algorithm =
          HashProfile.Algorithm.valueOf(hashAlgorithm.toUpperCase(Locale.ROOT));
      return new BridgeProgress(
          new PublisherId(instanceId, tenantId, dpRank),
          new TableId(tableTenantId, model, blockSize, new HashProfile(algorithm, hashSeed)),
          SourceType.byWireName(type)
              .orElseThrow(() -> new IllegalArgumentException("unknown type " + type)),
          generation,
          life,
          clears,
          lastSequence,
          lastTimeMicros,
          PublisherState.valueOf(state.toUpperCase(Locale.ROOT)),
          lastError,
          counters == null ? Map.of() : counters,
          lastIds == null ? Map.of() : lastIds,
          groups == null ? List.of() : groups.stream().map(Group::toSpec).toList(),
          connected == null || connectionSinceMicros == null
              ? null
              : new Connection(
                  connected,
                  connectionSinceMicros,
                  connectionProven == null ? connected : connectionProven),
          retellsUntil,
          logNext == null
              ? null
              : new LogPosition(logNext, lastFingerprint == null ? 0 : lastFingerprint));
    }
  }

  private record Group(
      @JsonProperty("group") int group,
      @JsonProperty("kind") @Nullable String kind,
      @JsonProperty("block_size") int blockSize,
      @JsonProperty("window") @Nullable Integer window) {

    static Group of(GroupSpec spec) {
      return new Group(spec.group(), spec.kind(), spec.blockSize(), spec.slidingWindow());
    }

    GroupSpec toSpec() {
      return new GroupSpec(group, kind, blockSize, window);
    }
  }
}
