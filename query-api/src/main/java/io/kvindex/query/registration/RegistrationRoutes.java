// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.model.PublisherId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.dialect.RequestDialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.BodyType;
import io.kvindex.query.parse.JsonDialect;
import io.kvindex.query.reply.ControlReplies;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /register}, {@code POST /unregister}, by the dialect of the request. Sources:
 * references 000-002; Mooncake Conductor, C++ server at 19ffa6e4a, of which bodies are strict and
 * conflicts worded as there; for Dynamo's dialect reference 003, in which a rank that was
 * unregistered and is registered again is a new generation, which is replayed from its start.
 */
public final class RegistrationRoutes {
  private static final int CREATED = 201;

  private final RegistrationService service;
  private final HashProfile defaultProfile;

  /**
   * @param defaultProfile hash profile of registrations in the conductor dialect that name none
   */
  public RegistrationRoutes(RegistrationService service, HashProfile defaultProfile) {
    this.service = service;
    this.defaultProfile = defaultProfile;
  }

  public void addTo(RoutesConfig routes) {
    routes.post("/register", ctx -> register(ctx, ctx.bodyAsBytes()));
    routes.post("/unregister", ctx -> unregister(ctx, ctx.bodyAsBytes()));
  }

  private static Dialect dialect(Context ctx, byte[] body) {
    Dialect dialect =
        BodyType.of(ctx.contentType()) == BodyType.MSGPACK
            ? Dialect.BINARY
            : JsonDialect.of(body, 0, body.length);
    RequestDialect.set(ctx, dialect);
    return dialect;
  }

  private void register(Context ctx, byte[] body) {
    switch (dialect(ctx, body)) {
      case CONDUCTOR -> {
        RegisterRequest request = RegisterRequest.parse(body, defaultProfile);
        service.register(request);
        registered(ctx, request);
      }
      case BINARY -> {
        RegisterRequest request =
            RegisterRequest.parse(BinaryFields.ofRegister(body), HashProfile.XXH3_DEFAULT);
        try {
          service.register(request);
        } catch (ApiException refusal) {
          throw worded(refusal, request.registration().publisher().displayName());
        }
        registered(ctx, request);
      }
      case DYNAMO -> {
        RegisterRequest request = DynamoRequest.parseRegister(body);
        service.register(
            request, (there, wanted) -> DynamoRequest.check(there, wanted, request.replace()));
        ControlReplies.send(ctx.status(CREATED), ControlReplies.object().put("status", "ok"));
      }
    }
  }

  private static void registered(Context ctx, RegisterRequest request) {
    ControlReplies.send(
        ctx,
        ControlReplies.object()
            .put("status", "registered successfully")
            .put("instance_id", request.registration().publisher().instanceId()));
  }

  private static ApiException worded(ApiException refusal, String key) {
    String text =
        switch (refusal.code()) {
          case REGISTRATION_CONFLICT ->
              "conflicting registration for service key: " + key + ": " + refusal.getMessage();
          case HASH_PROFILE_CONFLICT ->
              key
                  + ": registration conflicts with the ContextKey hash profile: "
                  + refusal.getMessage();
          default -> "";
        };
    return text.isEmpty()
        ? refusal
        : new ApiException(refusal.code(), text, refusal.field(), ErrorCode.NO_INDEX);
  }

  private void unregister(Context ctx, byte[] body) {
    switch (dialect(ctx, body)) {
      case CONDUCTOR -> {
        BodyFields fields = BodyFields.parse(body);
        String lora = fields.text("lora_name");
        unregister(
            ctx, RegisterRequest.publisher(fields), lora == null || lora.isEmpty() ? null : lora);
      }
      case BINARY ->
          unregister(ctx, RegisterRequest.publisher(BinaryFields.ofUnregister(body)), null);
      case DYNAMO -> {
        service.unregister(DynamoRequest.parse(body)::chosen);
        ControlReplies.send(ctx, ControlReplies.object().put("status", "ok"));
      }
    }
  }

  private void unregister(Context ctx, PublisherId publisher, @Nullable String lora) {
    boolean gone = service.unregister(publisher, lora);
    ObjectNode answer = ControlReplies.object().put("status", "unregistered successfully");
    ArrayNode instances = answer.putArray("removed_instances");
    if (gone) {
      instances.add(publisher.displayName());
    } else if (lora != null) {
      answer.putArray("removed_adapters").add(lora);
    }
    ControlReplies.send(ctx, answer);
  }
}
