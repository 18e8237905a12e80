// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.overview;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.dialect.Dialect;
import io.kvindex.query.dialect.RequestDialect;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import io.kvindex.query.reply.ControlReplies;
import java.util.Objects;
import java.util.function.Supplier;

/** {@code GET /services}, {@code GET /global_view}, {@code GET /cluster}. */
public final class OverviewRoutes {
  private final Supplier<RegistrationSnapshot> registrations;
  private final IndexAccess index;
  private final Supplier<ObjectNode> cluster;

  /**
   * @param cluster body of {@code GET /cluster}; called by many threads, must not wait
   */
  public OverviewRoutes(
      Supplier<RegistrationSnapshot> registrations,
      IndexAccess index,
      Supplier<ObjectNode> cluster) {
    this.registrations = registrations;
    this.index = index;
    this.cluster = cluster;
  }

  public void addTo(RoutesConfig routes) {
    routes.get("/services", ctx -> services(ctx));
    routes.get(
        "/global_view", ctx -> ControlReplies.send(ctx, GlobalView.of(registrations.get(), index)));
    routes.get("/cluster", ctx -> ctx.result(cluster.get().toString()));
  }

  private void services(Context ctx) {
    ObjectNode body = services(registrations.get());
    if (RequestDialect.of(ctx) == Dialect.BINARY) {
      // A member of today's C++ server, which knows one group only.
      body.path("services").forEach(one -> ((ObjectNode) one).putNull("CacheGroup"));
    }
    ControlReplies.send(ctx, body);
  }

  /**
   * Body of {@code GET /services}: one entry per publisher and adapter in order of instance, tenant
   * and rank, in the members Mooncake Conductor has (Go: {@code AdditionalSalt}; C++: {@code
   * HashProfile}); {@code Generation} is ours.
   */
  static ObjectNode services(RegistrationSnapshot registrations) {
    ObjectNode body = ControlReplies.object().put("count", 0);
    ArrayNode services = body.putArray("services");
    for (Registered one : registrations.all()) {
      for (String lora : one.registration().loraNames()) {
        services.add(service(one, lora));
      }
    }
    return body.put("count", services.size());
  }

  private static ObjectNode service(Registered one, String lora) {
    Registration r = one.registration();
    ObjectNode service =
        ControlReplies.object()
            .put("Endpoint", r.endpoint())
            .put("ReplayEndpoint", Objects.requireNonNullElse(r.replayEndpoint(), ""))
            .put("Type", r.type().wireName())
            .put("ModelName", r.table().model())
            .put("LoraName", lora)
            .put("TenantID", r.publisher().tenantId())
            .put("InstanceID", r.publisher().instanceId())
            .put("BlockSize", r.table().blockSize())
            .put("DPRank", r.publisher().dpRank())
            .put("AdditionalSalt", Objects.requireNonNullElse(r.namespace(), ""));
    service.set("HashProfile", profile(r.table().hashProfile()));
    return service.put("Generation", one.generation());
  }

  /**
   * A hash profile as answers show it. Those the C++ Conductor knows have its five members, others
   * {@code algorithm} and {@code seed}.
   */
  static ObjectNode profile(HashProfile profile) {
    ObjectNode json = ControlReplies.object();
    return switch (profile.algorithm()) {
      case VLLM_SHA256_CBOR, VLLM_SHA256 ->
          json.put("strategy", "vllm_v1")
              .put(
                  "algorithm",
                  profile.algorithm() == Algorithm.VLLM_SHA256 ? "sha256" : "sha256_cbor")
              .put("python_hash_seed", profile.seed())
              .put("root_digest", profile.vllmRootDigest())
              .put("index_projection", "low64_be");
      case XXH3, XXH3_DYNAMO, SGLANG_SHA256 ->
          json.put("algorithm", profile.algorithm().wireName()).put("seed", profile.seed());
    };
  }
}
