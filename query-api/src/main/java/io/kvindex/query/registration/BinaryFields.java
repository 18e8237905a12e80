// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.query.parse.MsgpackTree;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/**
 * What the binary dialect asks of a body beyond what JSON does: every member known, none nil, some
 * required that are optional there. Source: Mooncake Conductor, C++ server at 19ffa6e4a.
 */
final class BinaryFields {
  private static final Set<String> REGISTER =
      Set.of(
          "endpoint",
          "type",
          "modelname",
          "instance_id",
          "block_size",
          "dp_rank",
          "tenant_id",
          "lora_name",
          "replay_endpoint",
          "cache_group",
          "hash_profile");

  private static final String[] REGISTER_TEXTS = {"endpoint", "type", "modelname", "instance_id"};
  private static final String SEED = "python_hash_seed";
  private static final String[] PROFILE = {"strategy", "algorithm", SEED, "index_projection"};
  private static final Set<String> UNREGISTER = Set.of("instance_id", "tenant_id", "dp_rank");

  private BinaryFields() {}

  static BodyFields ofRegister(byte[] body) {
    ObjectNode root = MsgpackTree.read(body);
    requireKnown(root, REGISTER);
    checkCacheGroup(root);
    for (String field : REGISTER_TEXTS) {
      requireText(root, field);
    }
    require(root, "block_size");
    require(root, "dp_rank");
    String type = root.path("type").asText();
    if (!type.equals("vLLM") && !type.equals("SGLang") && !type.equals("Mooncake")) {
      throw ErrorCode.INVALID_VALUE.member(
          "type", "must be vLLM, SGLang or Mooncake, got \"" + ErrorCode.echo(type) + "\"");
    }
    checkProfile(require(root, "hash_profile"));
    return BodyFields.of(root);
  }

  static BodyFields ofUnregister(byte[] body) {
    ObjectNode root = MsgpackTree.read(body);
    requireKnown(root, UNREGISTER);
    requireText(root, "instance_id");
    require(root, "dp_rank");
    return BodyFields.of(root);
  }

  private static void requireKnown(ObjectNode root, Set<String> known) {
    for (Iterator<Map.Entry<String, JsonNode>> all = root.fields(); all.hasNext(); ) {
      Map.Entry<String, JsonNode> member = all.next();
      String name = ErrorCode.echo(member.getKey());
      if (!known.contains(member.getKey())) {
        throw ErrorCode.UNKNOWN_FIELD.of(name, "unknown field `" + name + "`");
      } else if (member.getValue().isNull() && !name.equals("cache_group")) {
        throw ErrorCode.INVALID_TYPE.member(name, "must not be nil");
      }
    }
  }

  private static JsonNode require(ObjectNode root, String field) {
    JsonNode value = root.get(field);
    if (value == null) {
      throw ErrorCode.missing(field);
    }
    return value;
  }

  private static void requireText(ObjectNode root, String field) {
    JsonNode value = require(root, field);
    if (value.isTextual() && value.textValue().isEmpty()) {
      throw ErrorCode.INVALID_VALUE.member(field, "must not be empty");
    }
  }

  /** Only the one group there was at first. */
  private static void checkCacheGroup(ObjectNode root) {
    JsonNode group = root.path("cache_group");
    if (group.isMissingNode() || group.isNull()) {
      return;
    } else if (!group.isIntegralNumber()) {
      throw ErrorCode.INVALID_TYPE.member("cache_group", "must be an integer or nil");
    } else if (group.bigIntegerValue().signum() != 0) {
      throw ErrorCode.UNSUPPORTED.member("cache_group", "must be 0 or nil");
    }
  }

  private static void checkProfile(JsonNode profile) {
    if (!profile.isObject()) {
      throw ErrorCode.INVALID_TYPE.member("hash_profile", "must be a map");
    }
    boolean seedless = HashProfileField.isSglang(profile.path("strategy").asText());
    for (String member : PROFILE) {
      if (!profile.has(member) && !(seedless && member.equals(SEED))) {
        throw ErrorCode.MISSING.of("hash_profile", "`hash_profile." + member + "` is missing");
      }
    }
  }
}
