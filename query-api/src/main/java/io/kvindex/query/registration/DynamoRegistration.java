// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.javalin.http.Context;

/**
 * Registering as with Dynamo's standalone indexer. A rank that was unregistered and is registered
 * again is a new generation, which is replayed from its start. Source: reference 003.
 */
public final class DynamoRegistration implements RegistrationDialect {
  private static final String OK = "{\"status\":\"ok\"}";
  private static final int CREATED = 201;

  private final RegistrationService service;

  public DynamoRegistration(RegistrationService service) {
    this.service = service;
  }

  @Override
  public void register(Context ctx, byte[] body) {
    RegisterRequest request = DynamoRequest.parseRegister(body);
    service.register(
        request, (there, wanted) -> DynamoRules.check(there, wanted, request.replace()));
    ctx.status(CREATED).contentType("application/json").result(OK);
  }

  @Override
  public void unregister(Context ctx, byte[] body) {
    DynamoRequest request = DynamoRequest.parse(body);
    service.unregister(there -> DynamoRules.chosen(there, request));
    ctx.contentType("application/json").result(OK);
  }
}
