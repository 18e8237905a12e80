// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.reply.JsonBuffer;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** {@code POST /register}, {@code POST /unregister}, {@code GET /services}. */
public final class RegistrationRoutes {
  private final RegistrationService service;
  private final RegistrationTable table;
  private final HashProfile defaultProfile;

  public RegistrationRoutes(
      RegistrationService service, RegistrationTable table, HashProfile defaultProfile) {
    this.service = service;
    this.table = table;
    this.defaultProfile = defaultProfile;
  }

  public void addTo(RoutesConfig routes) {
    routes.post("/register", this::register);
    routes.post("/unregister", this::unregister);
    routes.get("/services", this::services);
  }

  private void register(Context ctx) {
    RegisterRequest request = RegisterRequest.parse(body(ctx), defaultProfile);
    service.register(request);
    answer(
        ctx,
        new JsonBuffer()
            .raw('{')
            .name("status")
            .string("registered successfully")
            .raw(',')
            .name("instance_id")
            .string(request.registration().publisher().instanceId())
            .raw('}'));
  }

  private void unregister(Context ctx) {
    UnregisterRequest request = UnregisterRequest.parse(body(ctx));
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
    answer(ctx, out.raw('}'));
  }

  /** One entry per publisher and adapter, as registered. */
  private void services(Context ctx) {
    JsonBuffer list = new JsonBuffer();
    int count = 0;
    for (Registered one : table.snapshot().all()) {
      for (String lora : one.registration().loraNames()) {
        if (count++ > 0) {
          list.raw(',');
        }
        service(list, one, lora);
      }
    }
    JsonBuffer out = new JsonBuffer().raw('{').name("count").number(count).raw(',');
    out.name("services").raw('[').raw(list).raw(']').raw('}');
    answer(ctx, out);
  }

  private static void service(JsonBuffer out, Registered one, String lora) {
    Registration r = one.registration();
    out.raw('{').name("Endpoint").string(r.endpoint());
    out.raw(',').name("ReplayEndpoint").string(text(r.replayEndpoint()));
    out.raw(',').name("Type").string(r.type().wireName());
    out.raw(',').name("ModelName").string(r.table().model());
    out.raw(',').name("LoraName").string(lora);
    out.raw(',').name("TenantID").string(r.publisher().tenantId());
    out.raw(',').name("InstanceID").string(r.publisher().instanceId());
    out.raw(',').name("BlockSize").number(r.table().blockSize());
    out.raw(',').name("DPRank").number(r.publisher().dpRank());
    out.raw(',').name("AdditionalSalt").string(text(r.namespace()));
    out.raw(',').name("HashProfile").string(r.table().hashProfile().label());
    out.raw(',').name("Generation").number(one.generation()).raw('}');
  }

  private static String text(@Nullable String value) {
    return value == null ? "" : value;
  }

  /** Any Content-Type but the binary ones is read as JSON. */
  private static byte[] body(Context ctx) {
    @Nullable String type = ctx.contentType();
    if (type != null && type.toLowerCase(Locale.ROOT).contains("msgpack")) {
      throw ApiException.of(
          ErrorCode.UNSUPPORTED_CONTENT_TYPE,
          "Content-Type " + ApiException.echo(type) + " is not served yet; send JSON");
    }
    return ctx.bodyAsBytes();
  }

  private static void answer(Context ctx, JsonBuffer body) {
    ctx.contentType("application/json").result(body.asText());
  }
}
