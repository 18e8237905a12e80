// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationTable;
import io.kvindex.streams.IndexPartitions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether a replica should get traffic, as a whole or for one context. Thread-safe. */
final class Readiness {

  private final RegistrationTable registrations;
  private final IndexAccess index;
  private final int minInitialWorkers;
  private volatile boolean workersSeen;
  private volatile boolean draining;

  Readiness(RegistrationTable registrations, IndexAccess index, int minInitialWorkers) {
    this.registrations = registrations;
    this.index = index;
    this.minInitialWorkers = minInitialWorkers;
  }

  /** The replica is about to go: it gets no traffic from now on. */
  void drain() {
    draining = true;
  }

  /**
   * Why the replica should get no traffic, null if it may.
   *
   * @param tenant of the context asked about, null = the default one
   * @param model null = all there are, whatever the other two say
   * @param blockSize null = all of the model
   */
  @Nullable String whyNotReady(
      @Nullable String tenant, @Nullable String model, @Nullable String blockSize) {
    if (draining) {
      return IndexPartitions.LEAVING;
    }
    if (model != null) {
      return whyNotReadyFor(tenant == null ? PublisherId.DEFAULT_TENANT : tenant, model, blockSize);
    }
    @Nullable String reason = whyNotServing();
    return reason == null && !workersSeen ? missingWorkers() : reason;
  }

  /** What is registered nowhere is answered by no table, and so there is nothing to wait for. */
  private @Nullable String whyNotReadyFor(String tenant, String model, @Nullable String blockSize) {
    if (!registrations.caughtUp()) {
      return RegistrationTable.UNREAD;
    }
    for (Registered one : registrations.snapshot().all()) {
      TableId table = one.registration().table();
      if (table.model().equals(model)
          && table.tenantId().equals(tenant)
          && (blockSize == null || blockSize.equals(Integer.toString(table.blockSize())))) {
        @Nullable String reason = index.notReadyReason(table);
        if (reason != null) {
          return reason;
        }
      }
    }
    return null;
  }

  /** Why queries can not be answered yet, null if they can. */
  @Nullable String whyNotServing() {
    return registrations.caughtUp() ? index.notReadyReason() : RegistrationTable.UNREAD;
  }

  /** Only the first workers are waited for: one that goes later closes nothing. */
  private @Nullable String missingWorkers() {
    long workers =
        registrations.snapshot().all().stream()
            .map(Registered::registration)
            .filter(one -> !one.type().isPool())
            .map(Readiness::instance)
            .distinct()
            .count();
    workersSeen = workers >= minInitialWorkers;
    return workersSeen
        ? null
        : workers + " of the " + minInitialWorkers + " initial workers are registered";
  }

  private static List<String> instance(Registration registration) {
    PublisherId publisher = registration.publisher();
    return List.of(publisher.tenantId(), publisher.instanceId());
  }
}
