// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.progress;

import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.registration.Registration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How far a bridge got with a publisher, one value of the bridge-progress topic. It names only
 * sequences whose event records Kafka has acknowledged, so whoever takes over loses nothing by
 * going on from here.
 *
 * @param publisher who; the Kafka key
 * @param table table its blocks go to; says where to retire them once the registration is gone
 * @param type kind of publisher
 * @param generation the registration followed, as its offset
 * @param life offset of the record that claimed the current life; null in that very record, which
 *     claims it
 * @param clears clears the publisher announced in this life, up to the last sequence acknowledged
 * @param lastSequence last sequence acknowledged, unsigned; null = none yet
 * @param lastTimeMicros engine time of that batch, microseconds; 0 = none
 * @param state what the follower is doing
 * @param lastError newest problem as text for people, null = none
 * @param counters events and frames by outcome since the follower started
 * @param lastIds last event id acknowledged per stream key
 * @param groups attention groups its stores have told of in this life
 * @param connection whether its event socket is connected, null = not told: a claim, or written by
 *     an older version
 * @param retellsUntil last batch of those that this life tells once more because the one before it
 *     had lost some, unsigned; null = there is none, or Kafka has it
 * @param log where in the events log to read on, null = not told: written by an older version
 */
public record BridgeProgress(
    PublisherId publisher,
    TableId table,
    SourceType type,
    long generation,
    @Nullable Long life,
    long clears,
    @Nullable Long lastSequence,
    long lastTimeMicros,
    PublisherState state,
    @Nullable String lastError,
    Map<String, Long> counters,
    Map<String, Long> lastIds,
    List<GroupSpec> groups,
    @Nullable Connection connection,
    @Nullable Long retellsUntil,
    @Nullable LogPosition log) {

  public BridgeProgress {
    Objects.requireNonNull(publisher);
    Objects.requireNonNull(table);
    Objects.requireNonNull(type);
    Objects.requireNonNull(state);
    counters = Map.copyOf(counters);
    lastIds = Map.copyOf(lastIds);
    groups = List.copyOf(groups);
  }

  /**
   * Whether its engine is known to be the one whose events Kafka has: connected and shown to be it.
   * The claim of another life says that it is not; progress of older versions counts as shown.
   */
  public boolean isProven() {
    return connection == null ? life != null : connection.up() && connection.proven();
  }

  /** A claim that does not say where in the events log its life begins. */
  public static BridgeProgress claim(
      Registration registration, long generation, @Nullable Long retellsUntil) {
    return claim(registration, generation, retellsUntil, null);
  }

  /**
   * A record whose own offset names a new life of which nothing is known yet.
   *
   * @param retellsUntil last batch that the life has to tell once more, null = none
   * @param log where the events log ends: whatever the life announces comes behind it; null = not
   *     known
   */
  public static BridgeProgress claim(
      Registration registration,
      long generation,
      @Nullable Long retellsUntil,
      @Nullable LogPosition log) {
    return new BridgeProgress(
        registration.publisher(),
        registration.table(),
        registration.type(),
        generation,
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
        retellsUntil,
        log);
  }
}
