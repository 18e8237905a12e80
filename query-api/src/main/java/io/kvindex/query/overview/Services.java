// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.overview;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.registration.Registered;
import io.kvindex.query.registration.RegistrationSnapshot;
import org.jspecify.annotations.Nullable;

/**
 * Body of {@code GET /services}: one entry per publisher and adapter in order of instance, tenant
 * and rank, in the members Mooncake Conductor has (Go: {@code AdditionalSalt}; C++: {@code
 * HashProfile}); {@code Generation} is ours.
 */
final class Services {
  private Services() {}

  static ObjectNode of(RegistrationSnapshot registrations) {
    ArrayNode services = JsonNodeFactory.instance.arrayNode();
    for (Registered one : registrations.all()) {
      for (String lora : one.registration().loraNames()) {
        services.add(service(one, lora));
      }
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.put("count", services.size()).set("services", services);
    return body;
  }

  private static ObjectNode service(Registered one, String lora) {
    Registration r = one.registration();
    ObjectNode service =
        JsonNodeFactory.instance
            .objectNode()
            .put("Endpoint", r.endpoint())
            .put("ReplayEndpoint", orEmpty(r.replayEndpoint()))
            .put("Type", r.type().wireName())
            .put("ModelName", r.table().model())
            .put("LoraName", lora)
            .put("TenantID", r.publisher().tenantId())
            .put("InstanceID", r.publisher().instanceId())
            .put("BlockSize", r.table().blockSize())
            .put("DPRank", r.publisher().dpRank())
            .put("AdditionalSalt", orEmpty(r.namespace()));
    service.set("HashProfile", HashProfileJson.of(r.table().hashProfile()));
    return service.put("Generation", one.generation());
  }

  private static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }
}
