// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.overview;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.registration.RegistrationSnapshot;
import java.util.function.Supplier;

/** {@code GET /services}, {@code GET /global_view}. */
public final class OverviewRoutes {
  private final Supplier<RegistrationSnapshot> registrations;
  private final IndexAccess index;

  public OverviewRoutes(Supplier<RegistrationSnapshot> registrations, IndexAccess index) {
    this.registrations = registrations;
    this.index = index;
  }

  public void addTo(RoutesConfig routes) {
    routes.get("/services", ctx -> answer(ctx, Services.of(registrations.get())));
    routes.get("/global_view", ctx -> answer(ctx, GlobalView.of(registrations.get(), index)));
  }

  private static void answer(Context ctx, ObjectNode body) {
    ctx.contentType("application/json").result(body.toString());
  }
}
