// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.TokenIds.Fit;
import io.kvindex.model.Media;
import io.kvindex.model.TableId;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.PromptHasher;
import java.util.ArrayList;
import java.util.List;

/**
 * Notices a hash profile that is not the engine's: no query would ever hit, and nothing would say
 * why. Of each batch the first block that opens a prompt and comes with its tokens is hashed and
 * compared with the engine's own name for it. What counts is the last one looked at. For one
 * thread.
 */
final class ProfileCheck {

  private final HashProfile profile;
  private final int blockSize;
  private final PromptHasher hasher;
  private final Learned learned;
  private boolean done;

  ProfileCheck(TableId table, Learned learned) {
    this.profile = table.hashProfile();
    this.blockSize = table.blockSize();
    this.learned = learned;
    this.hasher = PromptHasher.of(profile);
  }

  /** Another batch: one of its blocks is looked at. */
  void nextBatch() {
    done = false;
  }

  /** Looks at a store of whole blocks of the registered size. */
  void look(EngineEvent.Stored stored, StatedContext context) {
    if (done || !profile.algorithm().isEngineNamed() || !isTelling(stored)) {
      return;
    }
    done = true;
    if (matches(hasher, profile, stored, context)) {
      learned.profileProblem(null);
    } else if (learned.profileProblem() == null) {
      learned.profileProblem(describe(stored, context));
    }
  }

  /**
   * Connectors to lower tiers have hashes of their own; other keys than these can not be hashed.
   */
  private static boolean isTelling(EngineEvent.Stored stored) {
    boolean nameless =
        stored.adapter().id() != null
            && stored.adapter().id() >= 0
            && (stored.adapter().name() == null || stored.adapter().name().isEmpty());
    return stored.parent() == null
        && stored.tokens().fit() == Fit.EXACT
        && !nameless
        && (stored.extraHashes().isEmpty() || stored.extraHashes().get(0) == 0)
        && Media.standard().tier(stored.scope().medium()) == Media.Tier.DEVICE;
  }

  private boolean matches(
      PromptHasher rule, HashProfile of, EngineEvent.Stored stored, StatedContext context) {
    return hashesPairs(of) == stored.tokens().isBigram()
        && first(rule, stored, context) == stored.hashes().get(0);
  }

  private static boolean hashesPairs(HashProfile profile) {
    return profile.seed().equals(HashProfile.BIGRAM);
  }

  private long first(PromptHasher rule, EngineEvent.Stored stored, StatedContext context) {
    rule.begin(context.loraName(), context.salt());
    return rule.next(stored.tokens().values(), 0, blockSize);
  }

  private String describe(EngineEvent.Stored stored, StatedContext context) {
    String text =
        "hash_profile "
            + profile.label()
            + " is not the engine's: it names the first block of a prompt "
            + Long.toUnsignedString(stored.hashes().get(0))
            + ", the profile "
            + (hashesPairs(profile) == stored.tokens().isBigram()
                ? Long.toUnsignedString(first(hasher, stored, context))
                : hashesPairs(profile) ? "hashes pairs of tokens" : "hashes no pairs of tokens")
            + "; ";
    for (HashProfile other : others()) {
      if (matches(PromptHasher.of(other), other, stored, context)) {
        return text + "register it with hash_profile " + json(other);
      }
    }
    return text
        + "register the engine's --prefix-caching-hash-algo and PYTHONHASHSEED, or xxh3, which"
        + " needs neither but the tokens in its events";
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
