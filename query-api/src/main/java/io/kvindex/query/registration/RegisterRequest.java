// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.CopyPolicy;
import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.registration.Endpoint;
import io.kvindex.model.registration.Registration;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A valid {@code POST /register} body.
 *
 * @param registration what it asks for, with exactly one adapter (empty = base model)
 * @param replace whether it may take the place of a differing registration
 */
public record RegisterRequest(Registration registration, boolean replace) {

  /**
   * Reads a body.
   *
   * @param defaultProfile hash profile of a body that names none
   * @throws ApiException naming the member at fault
   */
  public static RegisterRequest parse(byte[] body, HashProfile defaultProfile) {
    return parse(BodyFields.parse(body), defaultProfile);
  }

  /** The same of a body whose members are known. */
  static RegisterRequest parse(BodyFields fields, HashProfile defaultProfile) {
    String endpoint = fields.requiredText("endpoint");
    checkEndpoint(endpoint);
    String replay = fields.text("replay_endpoint");
    if (replay != null && !replay.isEmpty()) {
      checkReplayEndpoint(replay);
    }
    SourceType type = type(fields.requiredText("type"));
    String model = fields.eitherText("modelname", "model");
    if (model == null || model.isEmpty()) {
      model = fields.requiredText(fields.has("model") ? "model" : "modelname");
    }
    PublisherId publisher = publisher(fields);
    if (!fields.has("block_size")) {
      throw ErrorCode.missing("block_size");
    }
    int blockSize = fields.number("block_size", 1, TableId.MAX_BLOCK_SIZE, 0);
    HashProfile profile = HashProfileField.read(fields, defaultProfile);
    Registration registration =
        new Registration(
            publisher,
            endpoint,
            emptyToNull(replay),
            type,
            new TableId(publisher.tenantId(), model, blockSize, profile),
            List.of(nullToEmpty(fields.text("lora_name"))),
            emptyToNull(fields.eitherText("additionalsalt", "additional_salt")),
            OptionFields.read(fields, type, CopyPolicy.defaultFor(type)),
            null);
    return new RegisterRequest(registration, fields.flag("replace"));
  }

  /** The publisher a body names; {@code dp_rank} is 0 and the tenant {@code default} if absent. */
  static PublisherId publisher(BodyFields fields) {
    String instance = fields.requiredText("instance_id");
    String tenant = fields.text("tenant_id");
    int rank = fields.number("dp_rank", 0, Integer.MAX_VALUE, 0);
    return new PublisherId(
        instance, tenant == null || tenant.isEmpty() ? PublisherId.DEFAULT_TENANT : tenant, rank);
  }

  /** The same of a body that is JSON. */
  public static PublisherId publisher(byte[] body) {
    return publisher(BodyFields.parse(body));
  }

  static void checkEndpoint(String endpoint) {
    check(Endpoint::parse, endpoint, "endpoint", "invalid ZMQ endpoint");
  }

  static void checkReplayEndpoint(String endpoint) {
    check(Endpoint::parseReplay, endpoint, "replay_endpoint", "invalid replay endpoint");
  }

  private static void check(
      Function<String, Endpoint> parser, String endpoint, String field, String what) {
    try {
      var unused = parser.apply(endpoint);
    } catch (IllegalArgumentException e) {
      throw ErrorCode.INVALID_VALUE.of(
          field, what + " `" + ErrorCode.echo(endpoint) + "`: " + e.getMessage());
    }
  }

  static SourceType type(String name) {
    return SourceType.byWireName(name)
        .orElseThrow(
            () ->
                ErrorCode.INVALID_VALUE.member(
                    "type",
                    "must be vLLM, SGLang, TensorRT-LLM, Mooncake or KVEvents, got \""
                        + ErrorCode.echo(name)
                        + "\""));
  }

  private static String nullToEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }

  private static @Nullable String emptyToNull(@Nullable String text) {
    return text == null || text.isEmpty() ? null : text;
  }
}
