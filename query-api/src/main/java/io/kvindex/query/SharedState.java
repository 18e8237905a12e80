// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.peer.Peers;
import io.kvindex.query.registration.RegistrationService;
import io.kvindex.query.registration.RegistrationTable;
import io.kvindex.query.status.ProgressTable;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * What all replicas have in common through Kafka, beside the events: who is registered, what
 * bridges say of them, and whose dumps are taken over.
 *
 * @param registrations those this replica sees
 * @param progress what bridges last said
 * @param service writes registrations
 * @param peers other indexers
 */
record SharedState(
    RegistrationTable registrations,
    ProgressTable progress,
    RegistrationService service,
    Peers peers)
    implements AutoCloseable {

  /** Begins to follow the topics. */
  static SharedState open(QueryApi.Options options, IndexAccess index, MeterRegistry metrics) {
    ProgressTable progress = new ProgressTable(options.kafka());
    RegistrationTable registrations =
        new RegistrationTable(
            options.kafka(),
            options.media(),
            options.generations(),
            progress::unconnected,
            progress::caughtUp,
            metrics);
    return new SharedState(
        registrations,
        progress,
        new RegistrationService(registrations, options.kafka(), options.registrationTimeout()),
        new Peers(registrations::snapshot, index, options.kafka(), metrics));
  }

  @Override
  public void close() {
    peers.close();
    service.close();
    progress.close();
    registrations.close();
  }
}
