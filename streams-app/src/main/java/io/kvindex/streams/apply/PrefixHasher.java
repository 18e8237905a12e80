// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

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
    return switch (profile.algorithm()) {
      case XXH3, XXH3_DYNAMO -> new Rolled(new SeqHash(profile.xxh3Seed()), new long[2]);
      case VLLM_SHA256_CBOR, VLLM_SHA256, SGLANG_SHA256 -> new None();
    };
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

  /** Blocks of such tables are never looked for by their parents. */
  record None() implements PrefixHasher {
    @Override
    public long first(long local) {
      throw new IllegalStateException("BUG: the engine's name is the prefix hash");
    }

    @Override
    public long next(long parentSeq, long local) {
      return first(local);
    }
  }
}
