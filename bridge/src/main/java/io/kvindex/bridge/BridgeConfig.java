// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge;

import io.kvindex.bridge.follow.FollowLimits;
import io.kvindex.bridge.follow.GapPolicy;
import io.kvindex.bridge.zmq.ReplayPolicy;
import io.kvindex.model.member.MemberName;
import io.kvindex.model.registration.Generations;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.CommonClientConfigs;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a bridge.
 *
 * @param kafka settings of all its Kafka clients; {@code bootstrap.servers} at least
 * @param groupInstanceId name of this bridge in the group: a stable one where it is the only one
 *     (restart after a crash then takes no session timeout), or a {@link MemberName}, by which
 *     others notice that it is dead; null = none
 * @param progressEvery how often changed progress is written
 * @param rawQuarantine whether undecodable frames are kept with their bytes, which hold token ids
 * @param limits bounds of following
 * @param replay how hard a replay is tried
 * @param generations of the site's epoch
 */
public record BridgeConfig(
    Map<String, Object> kafka,
    @Nullable String groupInstanceId,
    Duration progressEvery,
    boolean rawQuarantine,
    FollowLimits limits,
    ReplayPolicy replay,
    Generations generations) {

  public BridgeConfig {
    kafka = Map.copyOf(kafka);
    if (!kafka.containsKey(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG)) {
      throw new IllegalArgumentException("kafka settings need bootstrap.servers");
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
        null,
        Duration.ofMillis(500),
        true,
        FollowLimits.DEFAULT,
        ReplayPolicy.DEFAULT,
        Generations.FIRST);
  }

  /**
   * The same with another name in the group: a stable one for the only bridge of a site, or that of
   * {@link MemberName}.
   */
  public BridgeConfig withGroupInstanceId(@Nullable String name) {
    return new BridgeConfig(kafka, name, progressEvery, rawQuarantine, limits, replay, generations);
  }

  /** The same with or without the bytes of undecodable frames, which hold token ids. */
  public BridgeConfig withRawQuarantine(boolean kept) {
    return new BridgeConfig(
        kafka, groupInstanceId, progressEvery, kept, limits, replay, generations);
  }

  /** The same with other bounds of following and another replay policy. */
  public BridgeConfig with(FollowLimits newLimits, ReplayPolicy newReplay) {
    return new BridgeConfig(
        kafka, groupInstanceId, progressEvery, rawQuarantine, newLimits, newReplay, generations);
  }

  /** The same with another answer to lost events. */
  public BridgeConfig with(GapPolicy gaps) {
    return with(limits.with(gaps), replay);
  }

  /** The same with one batch in so many traced, 0 = none. */
  public BridgeConfig withTraceOneIn(int batches) {
    return with(limits.withTraceOneIn(batches), replay);
  }

  /** The same in another epoch of the site. */
  public BridgeConfig with(Generations other) {
    return new BridgeConfig(
        kafka, groupInstanceId, progressEvery, rawQuarantine, limits, replay, other);
  }
}
