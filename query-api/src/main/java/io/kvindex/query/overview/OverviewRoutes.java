// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.overview;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.query.dialect.ControlReplies;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.dialect.RequestDialect;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.reply.PackedTree;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

/** {@code GET /services}, {@code GET /global_view}, {@code GET /cluster}. */
public final class OverviewRoutes {
  private final Supplier<RegistrationSnapshot> registrations;
  private final IndexAccess index;
  private final Cluster cluster;

  public OverviewRoutes(
      Supplier<RegistrationSnapshot> registrations, IndexAccess index, Cluster cluster) {
    this.registrations = registrations;
    this.index = index;
    this.cluster = cluster;
  }

  public void addTo(RoutesConfig routes) {
    routes.get("/services", this::services);
    routes.get("/global_view", ctx -> answer(ctx, GlobalView.of(registrations.get(), index)));
    routes.get("/cluster", ctx -> ctx.result(cluster.describe().toString()));
  }

  private void services(Context ctx) {
    ObjectNode body = Services.of(registrations.get());
    if (RequestDialect.of(ctx) == Dialect.BINARY) {
      // A member of today's C++ server, which knows one group only.
      body.path("services").forEach(one -> ((ObjectNode) one).putNull("CacheGroup"));
    }
    answer(ctx, body);
  }

  private static void answer(Context ctx, ObjectNode body) {
    Dialect dialect = RequestDialect.of(ctx);
    byte[] encoded =
        dialect == Dialect.BINARY
            ? PackedTree.of(body)
            : body.toString().getBytes(StandardCharsets.UTF_8);
    ControlReplies.send(ctx, dialect, encoded);
  }
}
