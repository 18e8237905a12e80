// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.javalin.http.Context;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.reply.JsonBuffer;
import org.jspecify.annotations.Nullable;

/** Registering in the conductor dialect. Source: references 000-002. */
public final class ConductorRegistration implements RegistrationDialect {
  private final RegistrationService service;
  private final HashProfile defaultProfile;

  /**
   * @param defaultProfile hash profile of registrations that name none
   */
  public ConductorRegistration(RegistrationService service, HashProfile defaultProfile) {
    this.service = service;
    this.defaultProfile = defaultProfile;
  }

  @Override
  public void register(Context ctx, byte[] body) {
    RegisterRequest request = RegisterRequest.parse(body, defaultProfile);
    service.register(request);
    JsonBuffer out = new JsonBuffer().raw('{').name("status").string("registered successfully");
    out.raw(',').name("instance_id");
    out.string(request.registration().publisher().instanceId()).raw('}');
    ctx.contentType("application/json").result(out.asText());
  }

  @Override
  public void unregister(Context ctx, byte[] body) {
    UnregisterRequest request = UnregisterRequest.parse(body);
    boolean gone = service.unregister(request);
    JsonBuffer out = new JsonBuffer().raw('{').name("status").string("unregistered successfully");
    out.raw(',').name("removed_instances").raw('[');
    @Nullable String lora = request.loraName();
    if (gone) {
      out.string(request.publisher().displayName());
    }
    out.raw(']');
    if (!gone && lora != null) {
      out.raw(',').name("removed_adapters").raw('[').string(lora).raw(']');
    }
    ctx.contentType("application/json").result(out.raw('}').asText());
  }
}
