// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.PublisherId;
import org.jspecify.annotations.Nullable;

/**
 * A valid {@code POST /unregister} body. Its other documented members describe the registration and
 * are not looked at, as in the Go Conductor.
 *
 * @param publisher who is to go
 * @param loraName the only adapter to remove, null for the whole publisher
 */
public record UnregisterRequest(PublisherId publisher, @Nullable String loraName) {

  /** Reads a body; throws {@link io.kvindex.query.error.ApiException} naming the bad member. */
  public static UnregisterRequest parse(byte[] body) {
    BodyFields fields = BodyFields.parse(body);
    String lora = fields.text("lora_name");
    return new UnregisterRequest(
        RegisterRequest.publisher(fields), lora == null || lora.isEmpty() ? null : lora);
  }
}
