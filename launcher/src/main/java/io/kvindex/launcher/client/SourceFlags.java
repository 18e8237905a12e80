// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/**
 * Members of a registration that have a default, by their names in the API. What they mean, and
 * what goes with what, the server decides; absent ones are not sent. A test holds that each member
 * of the API is here.
 */
@JsonAutoDetect(fieldVisibility = JsonAutoDetect.Visibility.ANY)
@JsonInclude(JsonInclude.Include.NON_NULL)
@JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
final class SourceFlags {

  @Option(
      names = "--namespace",
      paramLabel = "SALT",
      description = "additionalsalt: blocks match prompts of that namespace only (default: none).")
  @JsonProperty("additionalsalt")
  private String namespace;

  @Option(
      names = "--hash-profile",
      paramLabel = "NAME[:SEED]",
      description = {
        "How prefixes are hashed: xxh3 (default; works with every engine that sends tokens), xxh3_dynamo,",
        "  vllm_sha256:PYTHONHASHSEED or vllm_sha256_cbor:PYTHONHASHSEED (vLLM's --prefix-caching-hash-algo; without a seed what",
        "  vLLM uses since August 2026), sglang_sha256, sglang_sha256:bigram (EAGLE, NEXTN); or a JSON object as the API takes it.",
        "  One for each tenant, model and block size."
      })
  @JsonIgnore
  private String hashProfile;

  @Option(
      names = "--copies",
      paramLabel = "count|set",
      description = {
        "What it means that a block is announced again: another copy, which takes a removal of its own (count, vLLM's default),",
        "  or nothing new (set, the default of the others)."
      })
  private String copies;

  @Option(
      names = "--lower-tier",
      paramLabel = "own|pool:ID|ttl:SECONDS",
      description = {
        "What stores on CPU or disk mean: the engine removes them too (own, default), that pool knows what is still there,",
        "  or they count for so long. For connectors that never announce a removal (LMCache, Mooncake's)."
      })
  private String lowerTier;

  @Option(
      names = "--clear-scope",
      paramLabel = "device|device_and_host|all",
      description = "What AllBlocksCleared empties (default: as the type does).")
  private String clearScope;

  @Option(
      names = "--persistent-media",
      split = ",",
      paramLabel = "MEDIUM",
      description = "Media whose blocks outlive the engine's process, for example DISK.")
  private List<String> persistentMedia;

  @Option(
      names = "--topic",
      paramLabel = "TEXT",
      description = {
        "ZMQ topic to subscribe to (default: all); needed where several engines connect to one endpoint with a *."
      })
  private String topic;

  @Option(
      names = "--lora-path",
      paramLabel = "NAME=PATH",
      description = {
        "Where the engine loads an adapter from; vLLM since 0.32 hashes it, so the vllm_sha256 profiles need it. May be repeated."
      })
  private Map<String, String> loraPaths;

  @Option(
      names = "--pools",
      split = ",",
      arity = "1",
      paramLabel = "ID",
      description =
          "Pools that serve this instance (default: all of its model, tenant and block size); '' is none.")
  private List<String> pools;

  @Option(
      names = "--shards",
      split = ",",
      paramLabel = "N|NAME=N",
      description = {
        "Pools: objects a block is made of, as a number of tensor parallel ranks or by name: tp, pcp, dcp, pp, layers, kv;",
        "  for example tp=4,kv=2. A block counts when all of them are there."
      })
  @JsonIgnore
  private List<String> shards;

  @Option(
      names = "--pool-groups",
      split = ",",
      paramLabel = "N",
      description =
          "Pools, hybrid models: numbers of the attention groups that need every block (default: 0).")
  private List<Integer> poolGroups;

  @Option(
      names = "--expiry",
      paramLabel = "SECONDS",
      description =
          "Pools: how long a block counts without being announced again (default: for ever).")
  private Integer expirySeconds;

  @Option(
      names = "--removal-scope",
      paramLabel = "all|medium",
      description = {
        "Pools: whether a master's removal is of every medium, or of the one it names (Mooncake since September 2026)",
        "  (default: every medium, until the stream shows otherwise)."
      })
  private String removalScope;

  @Option(
      names = "--address-tier",
      paramLabel = "PART=MEDIUM",
      description =
          "Pools whose events have addresses: the medium of those that contain PART. May be repeated, the first counts.")
  private Map<String, String> addressTiers;

  @Option(
      names = "--replace",
      description =
          "Take the place of a registration of the same name that differs, for example at another address; its blocks are told anew.")
  @JsonInclude(JsonInclude.Include.NON_DEFAULT)
  private boolean replace;

  @Option(
      names = "--detached",
      description = {
        "The publisher tells everything once and goes, as kvindex ingest does: what it told counts without a connection."
      })
  @JsonInclude(JsonInclude.Include.NON_DEFAULT)
  private boolean detached;

  /**
   * Adds what was named.
   *
   * @throws IllegalArgumentException if a flag cannot be read
   */
  void addTo(ObjectNode body) {
    Stream.of(persistentMedia, pools)
        .filter(Objects::nonNull)
        .forEach(names -> names.removeIf(String::isEmpty)); // '' is none
    ObjectNode named = ApiClient.JSON.valueToTree(this);
    body.setAll(named);
    if (hashProfile != null) {
      body.set("hash_profile", profile(hashProfile));
    }
    if (shards != null) {
      body.set("shards", shards(shards));
    }
  }

  private static JsonNode profile(String text) {
    if (text.startsWith("{")) {
      try {
        return ApiClient.JSON.readTree(text);
      } catch (JsonProcessingException e) {
        throw new IllegalArgumentException("--hash-profile is no JSON object: " + text, e);
      }
    }
    ObjectNode profile = ApiClient.JSON.createObjectNode();
    int colon = text.indexOf(':');
    profile.put("algorithm", colon < 0 ? text : text.substring(0, colon));
    if (colon >= 0) {
      profile.put("seed", text.substring(colon + 1));
    }
    return profile;
  }

  private static JsonNode shards(List<String> parts) {
    ObjectNode sizes = ApiClient.JSON.createObjectNode();
    for (String part : parts) {
      int equals = part.indexOf('=');
      try {
        int size = Integer.parseInt(part.substring(equals + 1));
        if (equals < 0 && parts.size() == 1) {
          return sizes.numberNode(size);
        } else if (equals > 0) {
          sizes.put(part.substring(0, equals), size);
          continue;
        }
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(badShards(part), e);
      }
      throw new IllegalArgumentException(badShards(part));
    }
    return sizes;
  }

  private static String badShards(String part) {
    return "--shards must be a number or NAME=N,NAME=N, got " + part;
  }
}
