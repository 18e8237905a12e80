// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.streams.view.StreamPosition;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of a registered publisher: what its bridge last said and what is visible here.
 *
 * @param registered its registration
 * @param heard what a bridge said of this registration, null = nothing yet
 * @param visible how far its events are visible, null = not at all, or not in this replica
 * @param blocks blocks queries can find, by medium; empty as well where this replica does not have
 *     its table
 */
public record PublisherReport(
    Registered registered,
    @Nullable BridgeProgress heard,
    @Nullable StreamPosition visible,
    Map<String, Long> blocks) {

  private static final String UNVERIFIED = "remarked_unverified_";

  /** One report a registration, as it is now. */
  public static List<PublisherReport> all(
      RegistrationSnapshot registrations,
      Function<PublisherId, @Nullable BridgeProgress> progress,
      IndexAccess index) {
    Map<PublisherId, Map<String, Long>> blocks = index.blocks();
    List<PublisherReport> reports = new ArrayList<>();
    for (Registered one : registrations.all()) {
      PublisherId publisher = one.registration().publisher();
      BridgeProgress heard = progress.apply(publisher);
      // What was said of an earlier generation does not hold for this one.
      boolean isOfIt = heard != null && heard.generation() == one.generation();
      reports.add(
          new PublisherReport(
              one,
              isOfIt ? heard : null,
              index.position(one.registration().table(), publisher),
              blocks.getOrDefault(publisher, Map.of())));
    }
    return reports;
  }

  /**
   * What its bridge says, unless the table knows worse: a device clear, for one, ends the bridge's
   * doubts, while host blocks from before the hole are still there.
   */
  public PublisherState state() {
    if (heard == null) {
      return PublisherState.PENDING;
    }
    return switch (heard.state()) {
      case ACTIVE, REPLAYING -> asVisible(heard.state());
      default -> heard.state();
    };
  }

  private PublisherState asVisible(PublisherState said) {
    if (visible == null || !isOfTheLifeHeardOf(visible.incarnation())) {
      return said;
    }
    return visible.gaps() > 0
        ? PublisherState.DEGRADED
        : visible.retells() ? PublisherState.REPLAYING : said;
  }

  /**
   * What of the publisher's word its bridge could not check, in order: {@code group}, {@code salt},
   * {@code shards}, {@code tier}. The bridge counts such events under these names.
   */
  List<String> unverified() {
    return heard == null
        ? List.of()
        : heard.counters().entrySet().stream()
            .filter(one -> one.getKey().startsWith(UNVERIFIED) && one.getValue() > 0)
            .map(one -> one.getKey().substring(UNVERIFIED.length()))
            .sorted()
            .toList();
  }

  /** Batches Kafka has that are not visible here, null = nothing is known. */
  @Nullable Long lagBatches() {
    if (heard == null || visible == null && blocks.isEmpty() && heard.lastSequence() != null) {
      return null;
    }
    Long last = heard.lastSequence();
    if (last == null) {
      return 0L;
    }
    if (visible == null || visible.last() == null || !isOfTheLifeHeardOf(visible.incarnation())) {
      return last + 1;
    }
    return visible.covers(last) ? 0 : last - visible.last().eventId();
  }

  /**
   * How old what is visible may be, milliseconds: the time since the engine stamped the newest
   * visible batch if another one waits, else 0. Null = nothing is known.
   */
  @Nullable Long lagMs(long nowMicros) {
    Long batches = lagBatches();
    if (batches == null || batches == 0) {
      return batches;
    }
    if (visible == null || visible.sourceTimeMicros() == 0) {
      return null;
    }
    return TimeUnit.MICROSECONDS.toMillis(Math.max(0, nowMicros - visible.sourceTimeMicros()));
  }

  private boolean isOfTheLifeHeardOf(Incarnation seen) {
    Long life = heard == null ? null : heard.life();
    return heard != null
        && life != null
        && seen.generation() == heard.generation()
        && seen.life() == life;
  }
}
