// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query;

import io.javalin.config.RoutesConfig;
import io.kvindex.query.access.AccessLog;
import io.kvindex.query.contract.ContractRoutes;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.digest.DigestRoutes;
import io.kvindex.query.lend.CheckpointRoutes;
import io.kvindex.query.overview.OverviewRoutes;
import io.kvindex.query.peer.PeerRoutes;
import io.kvindex.query.quarantine.FrameReader;
import io.kvindex.query.quarantine.QuarantineRoutes;
import io.kvindex.query.registration.BinaryRegistration;
import io.kvindex.query.registration.ConductorRegistration;
import io.kvindex.query.registration.DynamoRegistration;
import io.kvindex.query.registration.RegistrationRoutes;
import io.kvindex.query.registration.RegistrationService;
import io.kvindex.query.status.StatusRoutes;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All routes but those of queries. */
final class ControlRoutes {
  private final RegistrationRoutes registering;
  private final OverviewRoutes overview;
  private final StatusRoutes status;
  private final QuarantineRoutes quarantine;
  private final PeerRoutes peering;
  private final DigestRoutes digests;
  private final CheckpointRoutes lending;
  private final ContractRoutes contract = new ContractRoutes();
  private final @Nullable AccessLog log;

  /**
   * @param reader decoders to try on quarantined frames
   * @param log null = none
   */
  ControlRoutes(
      QueryApi.Options options,
      Replica replica,
      SharedState shared,
      StatusRoutes status,
      FrameReader reader,
      @Nullable AccessLog log) {
    RegistrationService service = shared.service();
    registering =
        new RegistrationRoutes(
            Map.of(
                Dialect.CONDUCTOR,
                new ConductorRegistration(service, options.defaultProfile()),
                Dialect.BINARY,
                new BinaryRegistration(service),
                Dialect.DYNAMO,
                new DynamoRegistration(service)));
    overview =
        new OverviewRoutes(shared.registrations()::whole, replica.index(), replica.cluster());
    this.status = status;
    quarantine =
        new QuarantineRoutes(
            options.kafka(), shared.registrations()::whole, shared.progress()::get, reader);
    peering = new PeerRoutes(shared.peers(), shared.registrations()::whole, replica.index());
    digests = new DigestRoutes(replica.index());
    lending = new CheckpointRoutes(replica.lender());
    this.log = log;
  }

  void addTo(RoutesConfig routes) {
    registering.addTo(routes);
    overview.addTo(routes);
    status.addTo(routes);
    quarantine.addTo(routes);
    peering.addTo(routes);
    digests.addTo(routes);
    lending.addTo(routes);
    contract.addTo(routes);
    AccessLog.addTo(routes, log);
  }
}
