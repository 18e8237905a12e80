// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * {@code hash_profile} of a registration in its three forms: a name, {@code {"algorithm", "seed"}},
 * and the C++ Conductor's {@code {"strategy", "algorithm", "python_hash_seed",
 * "index_projection"}}, in which SGLang's strategies need no seed. Unlike elsewhere in JSON an
 * unknown member is refused: a seed overlooked is an index that never hits.
 */
final class HashProfileField {
  private static final String FIELD = "hash_profile";
  private static final String VLLM = "vllm_v1";
  private static final String SGLANG = "sglang";
  private static final String SGLANG_BIGRAM = "sglang_bigram";
  private static final Set<String> OWN_FORM = Set.of("algorithm", "seed");
  private static final Set<String> FOUR_FIELDS =
      Set.of("strategy", "algorithm", "python_hash_seed", "index_projection");
  private static final Set<String> FOUR_FIELDS_ONLY =
      Set.of("strategy", "python_hash_seed", "index_projection", "root_digest");

  private HashProfileField() {}

  /**
   * Reads the member.
   *
   * @param ifAbsent of bodies without it; its seed also where an XXH3 rule comes without one
   */
  static HashProfile read(BodyFields fields, HashProfile ifAbsent) {
    JsonNode node = fields.node(FIELD);
    if (node == null) {
      return ifAbsent;
    } else if (node.isTextual()) {
      Algorithm algorithm = algorithm(node.textValue());
      return new HashProfile(algorithm, defaultSeed(algorithm, ifAbsent));
    } else if (!node.isObject()) {
      throw fields.wrongType(FIELD, "a name or an object");
    }
    return FOUR_FIELDS_ONLY.stream().anyMatch(node::has)
        ? fourFields(node)
        : algorithmAndSeed(node, ifAbsent);
  }

  private static HashProfile algorithmAndSeed(JsonNode node, HashProfile ifAbsent) {
    requireOnly(node, OWN_FORM);
    Algorithm algorithm = algorithm(text(node, "algorithm"));
    JsonNode seed = node.path("seed");
    if (seed.isMissingNode() || seed.isNull()) {
      return new HashProfile(algorithm, defaultSeed(algorithm, ifAbsent));
    } else if (!seed.isTextual() && !seed.isIntegralNumber()) {
      throw refuse(ErrorCode.INVALID_TYPE, "`hash_profile.seed` must be a string or an integer");
    }
    try {
      return new HashProfile(algorithm, seed.asText());
    } catch (IllegalArgumentException e) {
      String seedOf = ".seed` of " + algorithm.wireName();
      throw mustBe(ErrorCode.INVALID_VALUE, seedOf, seedRule(algorithm), seed.asText());
    }
  }

  private static String seedRule(Algorithm algorithm) {
    return switch (algorithm) {
      case XXH3, XXH3_DYNAMO -> "an unsigned 64-bit number";
      case VLLM_SHA256_CBOR, VLLM_SHA256 -> "the engine's PYTHONHASHSEED, not empty";
      case SGLANG_SHA256 -> "absent, or " + HashProfile.BIGRAM + " for engines that hash pairs";
    };
  }

  private static HashProfile fourFields(JsonNode node) {
    requireOnly(node, FOUR_FIELDS);
    String strategy =
        require(
            node,
            "strategy",
            name -> name.equals(VLLM) || isSglang(name),
            "vllm_v1, sglang or sglang_bigram");
    if (isSglang(strategy)) {
      return sglang(node, strategy);
    }
    require(node, "index_projection", "low64_be"::equals, "low64_be");
    String seed =
        require(
            node,
            "python_hash_seed",
            HashProfileField::isPythonHashSeed,
            "random or a decimal number from 0 to 4294967295");
    String algorithm =
        require(
            node,
            "algorithm",
            name -> name.equals("sha256_cbor") || name.equals("sha256"),
            "sha256_cbor or sha256");
    return new HashProfile(
        algorithm.equals("sha256") ? Algorithm.VLLM_SHA256 : Algorithm.VLLM_SHA256_CBOR, seed);
  }

  /** Its chain has no seed of the process: one that is named must be text, and is not used. */
  private static HashProfile sglang(JsonNode node, String strategy) {
    require(node, "algorithm", "sha256_raw"::equals, "sha256_raw");
    require(node, "index_projection", "first64_be"::equals, "first64_be");
    if (node.has("python_hash_seed")) {
      text(node, "python_hash_seed");
    }
    return new HashProfile(
        Algorithm.SGLANG_SHA256, strategy.equals(SGLANG_BIGRAM) ? HashProfile.BIGRAM : "");
  }

  /** Whether a strategy of the C++ Conductor is SGLang's. */
  static boolean isSglang(String strategy) {
    return strategy.equals(SGLANG) || strategy.equals(SGLANG_BIGRAM);
  }

  /** The text is hashed as it is, so "0" and "00" are two seeds. */
  private static boolean isPythonHashSeed(String text) {
    if (text.equals("random")) {
      return true;
    }
    boolean digits = !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9');
    String number = digits ? text.replaceFirst("^0+(?=.)", "") : "";
    return digits && number.length() <= 10 && Long.parseLong(number) <= 0xFFFF_FFFFL;
  }

  private static String require(
      JsonNode node, String member, Predicate<String> allowed, String rule) {
    String value = text(node, member);
    if (!allowed.test(value)) {
      throw mustBe(ErrorCode.INVALID_VALUE, "." + member + "`", rule, value);
    }
    return value;
  }

  private static String text(JsonNode node, String member) {
    JsonNode value = node.path(member);
    if (value.isMissingNode() || value.isNull()) {
      throw refuse(ErrorCode.MISSING, "`hash_profile." + member + "` is missing");
    } else if (!value.isTextual()) {
      throw refuse(ErrorCode.INVALID_TYPE, "`hash_profile." + member + "` must be a string");
    }
    return value.textValue();
  }

  private static void requireOnly(JsonNode node, Set<String> known) {
    for (Iterator<String> names = node.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!known.contains(name)) {
        throw refuse(
            ErrorCode.UNKNOWN_FIELD,
            "`hash_profile` has no member `"
                + ErrorCode.echo(name)
                + "` beside "
                + known.stream().sorted().collect(Collectors.joining(", ")));
      }
    }
  }

  private static Algorithm algorithm(String name) {
    String all =
        Arrays.stream(Algorithm.values())
            .map(Algorithm::wireName)
            .collect(Collectors.joining(", "));
    return Algorithm.byWireName(name)
        .orElseThrow(() -> mustBe(ErrorCode.UNSUPPORTED, "`", "one of " + all, name));
  }

  private static String defaultSeed(Algorithm algorithm, HashProfile ifAbsent) {
    boolean xxh3 = algorithm == Algorithm.XXH3 || algorithm == Algorithm.XXH3_DYNAMO;
    boolean configured =
        ifAbsent.algorithm() == Algorithm.XXH3 || ifAbsent.algorithm() == Algorithm.XXH3_DYNAMO;
    return xxh3 && configured ? ifAbsent.seed() : algorithm.defaultSeed();
  }

  private static ApiException refuse(ErrorCode code, String text) {
    return code.of(FIELD, text);
  }

  /**
   * @param what of it, behind its name
   */
  private static ApiException mustBe(ErrorCode code, String what, String rule, String got) {
    return refuse(
        code,
        "`hash_profile" + what + " must be " + rule + ", got \"" + ErrorCode.echo(got) + "\"");
  }
}
