// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.TokenIds;
import io.kvindex.bridge.decode.TokenIds.Fit;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.Parent;
import io.kvindex.model.hash.DynamoSeed;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.SeqHash;
import org.jspecify.annotations.Nullable;

/**
 * Turns the tokens of stored blocks into local hashes, where the profile needs them. Immutable;
 * safe for all threads.
 */
final class LocalHasher {

  private final Algorithm algorithm;
  private final long seed;
  private final SeqHash hash;

  /** By the rule of {@link HashProfile#byTokens}. */
  LocalHasher(HashProfile profile) {
    algorithm = profile.byTokens().algorithm();
    seed = profile.byTokens().xxh3Seed();
    hash = new SeqHash(seed);
  }

  /**
   * Whether names are the rolling hashes of those blocks. Below a parent that is not named the
   * first can not be checked and is believed.
   *
   * @param locals one hash a block
   */
  boolean isStandard(Hashes names, Parent parent, Hashes locals) {
    for (int i = 0; i < names.size(); i++) {
      long before = i == 0 ? parent.hash() : names.get(i - 1);
      boolean first = i == 0 && parent.kind() != Parent.Kind.HASH;
      long wanted = first ? locals.get(0) : hash.roll(before, locals.get(i));
      boolean checkable = i > 0 || parent.kind() != Parent.Kind.UNKNOWN;
      if (checkable && wanted != names.get(i)) {
        return false;
      }
    }
    return true;
  }

  /**
   * One hash a block; a block of n pairs is hashed over the n + 1 tokens it spans.
   *
   * @param blocks number of blocks the tokens belong to
   * @param lora adapter of the blocks, null = base model
   * @param salt request salt of the blocks, null = none
   * @return empty if the tokens can not be told apart by block
   */
  Hashes locals(
      TokenIds tokens, int blocks, int blockSize, @Nullable String lora, @Nullable String salt) {
    if (tokens.fit() != Fit.EXACT && tokens.fit() != Fit.ONE_TOO_MANY) {
      return Hashes.EMPTY;
    }
    SeqHash rule = rule(lora, salt);
    TokenIds.Reader reader = tokens.reader();
    int[] block = new int[tokens.isBigram() ? blockSize + 1 : blockSize];
    long[] locals = new long[blocks];
    for (int i = 0; i < blocks; i++) {
      reader.next(block);
      locals[i] = rule.local(block, 0, block.length);
    }
    return Hashes.of(locals);
  }

  private SeqHash rule(@Nullable String lora, @Nullable String salt) {
    boolean own = algorithm == Algorithm.XXH3_DYNAMO && (lora != null || salt != null);
    return own ? new SeqHash(DynamoSeed.of(seed, lora, salt)) : hash;
  }
}
