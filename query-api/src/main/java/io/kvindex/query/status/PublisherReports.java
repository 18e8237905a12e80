// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import io.kvindex.model.PublisherId;
import io.kvindex.model.progress.BridgeProgress;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Puts together what is known of the publishers. Thread-safe. */
public final class PublisherReports {

  private final Supplier<RegistrationSnapshot> registrations;
  private final Function<PublisherId, @Nullable BridgeProgress> progress;
  private final IndexAccess index;

  public PublisherReports(
      Supplier<RegistrationSnapshot> registrations,
      Function<PublisherId, @Nullable BridgeProgress> progress,
      IndexAccess index) {
    this.registrations = registrations;
    this.progress = progress;
    this.index = index;
  }

  /** One report a registration, as it is now. */
  public List<PublisherReport> now() {
    Map<PublisherId, Map<String, Long>> blocks = index.blocks();
    return registrations.get().all().stream()
        .map(
            one -> {
              PublisherId publisher = one.registration().publisher();
              return new PublisherReport(
                  one,
                  progressOf(one),
                  index.position(one.registration().table(), publisher),
                  blocks.getOrDefault(publisher, Map.of()));
            })
        .toList();
  }

  /** What was said of an earlier generation does not hold for this one. */
  private @Nullable BridgeProgress progressOf(Registered one) {
    BridgeProgress heard = progress.apply(one.registration().publisher());
    return heard == null || heard.generation() != one.generation() ? null : heard;
  }
}
