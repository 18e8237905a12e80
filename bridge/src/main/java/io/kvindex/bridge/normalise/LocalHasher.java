// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.TokenIds;
import io.kvindex.bridge.decode.TokenIds.Fit;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.SeqHash;

/** Turns the tokens of stored blocks into local hashes. Immutable; safe for all threads. */
final class LocalHasher {

  private final SeqHash hash;

  /**
   * @throws IllegalArgumentException if the profile's hashes can not be computed here
   */
  LocalHasher(HashProfile profile) {
    if (profile.algorithm() != HashProfile.Algorithm.XXH3) {
      throw new IllegalArgumentException("hash profile " + profile.label() + " is not supported");
    }
    hash = new SeqHash(profile.xxh3Seed());
  }

  /**
   * One hash a block.
   *
   * @param blocks number of blocks the tokens belong to
   * @return empty if the tokens can not be told apart by block
   */
  Hashes locals(TokenIds tokens, int blocks, int blockSize) {
    boolean usable = tokens.fit() == Fit.EXACT || tokens.fit() == Fit.ONE_TOO_MANY;
    if (!usable || tokens.isBigram()) {
      return Hashes.EMPTY;
    }
    return Hashes.wrap(hash.locals(tokens.values(), blocks * blockSize, blockSize));
  }
}
