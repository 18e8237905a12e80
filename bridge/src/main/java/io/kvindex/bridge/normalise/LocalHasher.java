// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.TokenIds;
import io.kvindex.bridge.decode.TokenIds.Fit;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.Parent;
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
