// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import io.kvindex.bridge.follow.FollowLimits;
import io.kvindex.bridge.follow.GapPolicy;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.bridge.zmq.Resolver;
import io.kvindex.model.chaos.Knob;
import io.kvindex.model.member.MemberName;
import io.kvindex.model.registration.Generations;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.apache.kafka.clients.CommonClientConfigs;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a bridge.
 *
 * @param kafka settings of all its Kafka clients; {@code bootstrap.servers} at least
 * @param groupId consumer group all bridges of a site share
 * @param groupInstanceId name of this bridge in the group: a stable one where it is the only one
 *     (restart after a crash then takes no session timeout), or a {@link MemberName}, by which
 *     others notice that it is dead; null = none
 * @param inFlightBytes most bytes sent to Kafka and not acknowledged yet; sockets are not read
 *     beyond it
 * @param deliveryTimeout longest outage of Kafka a record is kept for; up to about 24 days
 * @param progressEvery how often changed progress is written
 * @param rawQuarantine whether undecodable frames are kept with their bytes, which hold token ids
 * @param limits bounds of following
 * @param replay how hard a replay is tried
 * @param generations of the site's epoch
 * @param lookup looks up the names of engines; may block
 */
public record BridgeConfig(
    Map<String, Object> kafka,
    String groupId,
    @Nullable String groupInstanceId,
    long inFlightBytes,
    Duration deliveryTimeout,
    Duration progressEvery,
    boolean rawQuarantine,
    FollowLimits limits,
    ReplayPolicy replay,
    Generations generations,
    Resolver.Lookup lookup) {

  /** Consumer group where nobody says otherwise. */
  public static final String DEFAULT_GROUP = "kvindex-bridge";

  public BridgeConfig {
    kafka = Map.copyOf(kafka);
    Objects.requireNonNull(groupId);
    if (!kafka.containsKey(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG)) {
      throw new IllegalArgumentException("kafka settings need bootstrap.servers");
    }
    if (inFlightBytes < 1 << 20) {
      throw new IllegalArgumentException("inFlightBytes must be >= 1 MiB, got " + inFlightBytes);
    }
  }

  /** Defaults for a cluster at {@code bootstrapServers}. */
  public static BridgeConfig at(String bootstrapServers) {
    return on(Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers));
  }

  /**
   * Defaults for a cluster that needs more to be reached than its address.
   *
   * @param kafka settings of all Kafka clients, see {@link io.kvindex.model.kafka.ClientKind}
   */
  public static BridgeConfig on(Map<String, Object> kafka) {
    return new BridgeConfig(
        kafka,
        DEFAULT_GROUP,
        null,
        Knob.SEND_BUDGET_BYTES.or(16L << 20),
        Duration.ofMinutes(10),
        Duration.ofMillis(500),
        true,
        FollowLimits.DEFAULT,
        ReplayPolicy.DEFAULT,
        Generations.FIRST,
        Resolver.Lookup.SYSTEM);
  }

  /**
   * The same with another name in the group: a stable one for the only bridge of a site, or that of
   * {@link MemberName}.
   */
  public BridgeConfig withGroupInstanceId(@Nullable String name) {
    return but(draft -> draft.groupInstanceId = name);
  }

  /** The same with or without the bytes of undecodable frames, which hold token ids. */
  public BridgeConfig withRawQuarantine(boolean kept) {
    return but(draft -> draft.rawQuarantine = kept);
  }

  /** The same with other bounds of following and another replay policy. */
  public BridgeConfig with(FollowLimits newLimits, ReplayPolicy newReplay) {
    return but(
        draft -> {
          draft.limits = newLimits;
          draft.replay = newReplay;
        });
  }

  /** The same with another answer to lost events. */
  public BridgeConfig with(GapPolicy gaps) {
    return with(limits.with(gaps), replay);
  }

  /** The same in another epoch of the site. */
  public BridgeConfig with(Generations other) {
    return but(draft -> draft.generations = other);
  }

  private BridgeConfig but(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return new BridgeConfig(
        kafka,
        groupId,
        draft.groupInstanceId,
        inFlightBytes,
        deliveryTimeout,
        progressEvery,
        draft.rawQuarantine,
        draft.limits,
        draft.replay,
        draft.generations,
        lookup);
  }

  /** What may be changed, while it is. */
  private static final class Draft {
    private @Nullable String groupInstanceId;
    private boolean rawQuarantine;
    private FollowLimits limits;
    private ReplayPolicy replay;
    private Generations generations;

    private Draft(BridgeConfig from) {
      groupInstanceId = from.groupInstanceId;
      rawQuarantine = from.rawQuarantine;
      limits = from.limits;
      replay = from.replay;
      generations = from.generations;
    }
  }
}
