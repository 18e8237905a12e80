// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.TokenIds.Fit;
import io.kvindex.model.Media;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.CacheSalt;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.PromptHasher;
import io.kvindex.model.registration.Registration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether the names an engine gives its blocks are the prefix hashes of the registered profile. Of
 * each batch and adapter the first block that opens a prompt and comes with its tokens is hashed
 * and compared. Names that are not are taken for mere names, and their blocks are indexed by what
 * their tokens say ({@link HashProfile#byTokens}): queries by tokens find them, queries by hashes
 * only by the engine's own where these cover the adapter, and the source says why. For one thread.
 *
 * <p>SGLang's names depend on when an adapter was loaded (0.5.23: {@code extra_key} of the radix
 * tree), those of vLLM since 0.32 on where from; no event tells either.
 */
final class ProfileCheck {

  private final HashProfile profile;
  private final int blockSize;
  private final Map<String, String> loraPaths;
  private final PromptHasher hasher;
  private final Learned learned;
  private final Set<String> lookedAt = new HashSet<>();

  ProfileCheck(Registration registration, Learned learned) {
    this.profile = registration.table().hashProfile();
    this.blockSize = registration.table().blockSize();
    this.loraPaths = registration.options().loraPaths();
    this.learned = learned;
    this.hasher = PromptHasher.of(profile);
  }

  /** Another batch: of each adapter one of its blocks is looked at. */
  void nextBatch() {
    lookedAt.clear();
  }

  /**
   * Looks at a store of whole blocks of the registered size.
   *
   * @return whether its blocks are to be indexed by their tokens, where they have them
   */
  boolean isByTokens(EngineEvent.Stored stored, StatedContext context) {
    if (!profile.algorithm().isEngineNamed()) {
      return true;
    }
    String lora = context.loraName() == null ? "" : context.loraName();
    if (isTelling(stored) && lookedAt.add(lora)) {
      judge(stored, context, lora);
    }
    Boolean explained = learned.explained(lora);
    return explained == null ? !lora.isEmpty() && !profile.algorithm().coversLora() : !explained;
  }

  private void judge(EngineEvent.Stored stored, StatedContext context, String lora) {
    if (matches(hasher, profile, stored, context)) {
      learned.explained(lora, true);
      learned.profileProblem(null);
      return;
    }
    Boolean before = learned.explained(lora);
    // One seed holds for all of a life: what is not explained later is an unknown form of a name.
    if (!lora.isEmpty() || !Boolean.TRUE.equals(before)) {
      learned.explained(lora, false);
    }
    HashProfile other = other(stored, context);
    if (lora.isEmpty() || other != null) {
      if (learned.profileProblem() == null) {
        learned.profileProblem(describe(stored, context, other));
      }
    } else if (profile.algorithm().coversLora() && !Boolean.FALSE.equals(before)) {
      learned.notice(describe(lora));
    }
  }

  /**
   * Connectors to lower tiers have hashes of their own; other keys than these can not be hashed.
   */
  private static boolean isTelling(EngineEvent.Stored stored) {
    boolean nameless =
        stored.adapter().id() >= 0
            && (stored.adapter().name() == null || stored.adapter().name().isEmpty());
    return !stored.parent().isNamed()
        && stored.tokens().fit() == Fit.EXACT
        && !nameless
        && (stored.extraHashes().isEmpty() || stored.extraHashes().get(0) == 0)
        && Media.standard().tier(stored.scope().medium()) == Media.Tier.DEVICE;
  }

  /** In any way an engine may hash adapter and salt. */
  private boolean matches(
      PromptHasher rule, HashProfile of, EngineEvent.Stored stored, StatedContext context) {
    if (hashesPairs(of) != stored.tokens().isBigram()) {
      return false;
    }
    String lora = context.loraName();
    String salt = context.salt();
    return isFirst(rule, stored, lora, salt)
        || (salt != null && isFirst(rule, stored, lora, CacheSalt.DYNAMOS_MARKER + salt));
  }

  private boolean isFirst(
      PromptHasher rule, EngineEvent.Stored stored, @Nullable String lora, @Nullable String salt) {
    long name = stored.hashes().get(0);
    rule.begin(lora, salt);
    if (first(rule, stored) == name) {
      return true;
    }
    String path = lora == null ? null : loraPaths.get(lora);
    if (path == null && lora != null) {
      return false;
    }
    rule.beginTagged(lora, path, salt);
    return first(rule, stored) == name;
  }

  private static boolean hashesPairs(HashProfile profile) {
    return profile.seed().equals(HashProfile.BIGRAM);
  }

  private long first(PromptHasher begun, EngineEvent.Stored stored) {
    return begun.next(stored.tokens().first(blockSize), 0, blockSize);
  }

  private String describe(String lora) {
    return "hash_profile "
        + profile.label()
        + " does not explain the engine's hashes of adapter "
        + lora
        + ": vLLM since 0.32 hashes the adapter's path, which no event tells; "
        + (loraPaths.containsKey(lora)
            ? "lora_paths says " + loraPaths.get(lora) + ", which it is not"
            : "register it in lora_paths")
        + ". Until then its blocks are found by tokens and by the engine's own hashes";
  }

  private String describe(
      EngineEvent.Stored stored, StatedContext context, @Nullable HashProfile other) {
    hasher.begin(context.loraName(), context.salt());
    String text =
        "hash_profile "
            + profile.label()
            + " is not the engine's: it names the first block of a prompt "
            + Long.toUnsignedString(stored.hashes().get(0))
            + ", the profile "
            + (hashesPairs(profile) == stored.tokens().isBigram()
                ? Long.toUnsignedString(first(hasher, stored))
                : hashesPairs(profile) ? "hashes pairs of tokens" : "hashes no pairs of tokens")
            + "; its blocks are found by tokens"
            + (profile.algorithm().coversLora() ? " and by the engine's own hashes; " : "; ");
    return other != null
        ? text + "register it with hash_profile " + json(other)
        : text
            + "register the engine's --prefix-caching-hash-algo and PYTHONHASHSEED, or xxh3, which"
            + " needs neither but the tokens in its events";
  }

  private @Nullable HashProfile other(EngineEvent.Stored stored, StatedContext context) {
    for (HashProfile other : others()) {
      if (matches(PromptHasher.of(other), other, stored, context)) {
        return other;
      }
    }
    return null;
  }

  private List<HashProfile> others() {
    List<HashProfile> others = new ArrayList<>();
    List<String> seeds = new ArrayList<>(List.of(HashProfile.DEFAULT_VLLM_SEED, "0", "random"));
    if (profile.algorithm() != Algorithm.SGLANG_SHA256) {
      seeds.add(profile.seed());
    }
    for (String seed : seeds) {
      others.add(new HashProfile(Algorithm.VLLM_SHA256, seed));
      others.add(new HashProfile(Algorithm.VLLM_SHA256_CBOR, seed));
    }
    others.add(new HashProfile(Algorithm.SGLANG_SHA256, ""));
    others.add(new HashProfile(Algorithm.SGLANG_SHA256, HashProfile.BIGRAM));
    return others;
  }

  private static String json(HashProfile profile) {
    String algorithm = "{\"algorithm\":\"" + profile.algorithm().wireName() + "\"";
    return profile.seed().isEmpty()
        ? algorithm + "}"
        : algorithm + ",\"seed\":\"" + profile.seed() + "\"}";
  }
}
