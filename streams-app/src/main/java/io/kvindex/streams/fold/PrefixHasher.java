// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.SeqHash;

/**
 * How the hash of a prefix follows from that of the prefix one block shorter. Only for blocks that
 * are described by their tokens; for the others see {@link EngineNames}.
 */
interface PrefixHasher {

  /** Hash of the prefix that is the first block. */
  long first(long local);

  /** Hash of a prefix one block longer. */
  long next(long parentSeq, long local);

  /** The rule of a profile. */
  static PrefixHasher of(HashProfile profile) {
    return new Rolled(new SeqHash(profile.byTokens().xxh3Seed()), new long[2]);
  }

  /** XXH3 over the parent's hash and the block's. */
  @SuppressWarnings("ArrayRecordComponent") // scratch space, never compared
  record Rolled(SeqHash hash, long[] scratch) implements PrefixHasher {
    @Override
    public long first(long local) {
      return local;
    }

    @Override
    public long next(long parentSeq, long local) {
      return hash.roll(parentSeq, local, scratch);
    }
  }
}
