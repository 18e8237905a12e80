// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.overview;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;

/**
 * A hash profile as answers show it. Those the C++ Conductor knows have its five members, others
 * {@code algorithm} and {@code seed}.
 */
final class HashProfileJson {
  private HashProfileJson() {}

  static ObjectNode of(HashProfile profile) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
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
