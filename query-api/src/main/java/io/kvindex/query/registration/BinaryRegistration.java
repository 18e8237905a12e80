// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.http.Context;
import io.kvindex.model.PublisherId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.query.dialect.ControlReplies;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.reply.PackedTree;

/**
 * Registering in the binary dialect: strict bodies, conflicts worded as there. Source: Mooncake
 * Conductor, C++ server at 19ffa6e4a.
 */
public final class BinaryRegistration implements RegistrationDialect {
  private final RegistrationService service;

  public BinaryRegistration(RegistrationService service) {
    this.service = service;
  }

  @Override
  public void register(Context ctx, byte[] body) {
    RegisterRequest request =
        RegisterRequest.parse(BinaryFields.ofRegister(body), HashProfile.XXH3_DEFAULT);
    PublisherId publisher = request.registration().publisher();
    try {
      service.register(request);
    } catch (ApiException refusal) {
      throw worded(refusal, publisher.displayName());
    }
    ObjectNode answer =
        JsonNodeFactory.instance
            .objectNode()
            .put("status", "registered successfully")
            .put("instance_id", publisher.instanceId());
    ControlReplies.send(ctx, Dialect.BINARY, PackedTree.of(answer));
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
        : new ApiException(refusal.code(), text, refusal.field(), ApiException.NO_INDEX);
  }

  @Override
  public void unregister(Context ctx, byte[] body) {
    PublisherId publisher = RegisterRequest.publisher(BinaryFields.ofUnregister(body));
    service.unregister(new UnregisterRequest(publisher, null));
    ObjectNode answer =
        JsonNodeFactory.instance.objectNode().put("status", "unregistered successfully");
    answer.putArray("removed_instances").add(publisher.displayName());
    ControlReplies.send(ctx, Dialect.BINARY, PackedTree.of(answer));
  }
}
