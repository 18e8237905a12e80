// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.dialect.RequestDialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.JsonDialect;
import io.kvindex.query.reply.JsonBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** {@code POST /register}, {@code POST /unregister}, {@code GET /services}. */
public final class RegistrationRoutes {
  private final Map<Dialect, RegistrationDialect> dialects;
  private final RegistrationTable table;

  /**
   * @param dialects who serves which
   */
  public RegistrationRoutes(Map<Dialect, RegistrationDialect> dialects, RegistrationTable table) {
    this.dialects = Map.copyOf(dialects);
    this.table = table;
  }

  public void addTo(RoutesConfig routes) {
    routes.post("/register", ctx -> speaker(ctx).register(ctx, ctx.bodyAsBytes()));
    routes.post("/unregister", ctx -> speaker(ctx).unregister(ctx, ctx.bodyAsBytes()));
    routes.get("/services", this::services);
  }

  private RegistrationDialect speaker(Context ctx) {
    byte[] body = ctx.bodyAsBytes();
    Dialect dialect =
        BodyType.of(ctx.contentType()) == BodyType.MSGPACK
            ? Dialect.BINARY
            : JsonDialect.of(body, 0, body.length);
    RequestDialect.set(ctx, dialect);
    RegistrationDialect speaker = dialects.get(dialect);
    if (speaker == null) {
      throw ApiException.of(
          ErrorCode.UNSUPPORTED, "registrations in the " + dialect + " dialect are not served yet");
    }
    return speaker;
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

  private static void answer(Context ctx, JsonBuffer body) {
    ctx.contentType("application/json").result(body.asText());
  }
}
