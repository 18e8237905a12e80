// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.apply;

import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.SeqHash;

/** How the hash of a prefix follows from that of the prefix one block shorter. */
interface PrefixHasher {

  /** Whether a block's own hash is enough, so that its tokens need not be known. */
  boolean needsLocal();

  /** Hash of the prefix that is the first block. */
  long first(long local, long engineHash);

  /** Hash of a prefix one block longer. */
  long next(long parentSeq, long local, long engineHash);

  /** The rule of a profile. */
  static PrefixHasher of(HashProfile profile) {
    return switch (profile.algorithm()) {
      case XXH3, XXH3_DYNAMO -> new Rolled(new SeqHash(profile.xxh3Seed()), new long[2]);
      case VLLM_SHA256_CBOR, VLLM_SHA256, SGLANG_SHA256 -> new Engine();
    };
  }

  /** XXH3 over the parent's hash and the block's. */
  @SuppressWarnings("ArrayRecordComponent") // scratch space, never compared
  record Rolled(SeqHash hash, long[] scratch) implements PrefixHasher {
    @Override
    public boolean needsLocal() {
      return true;
    }

    @Override
    public long first(long local, long engineHash) {
      return local;
    }

    @Override
    public long next(long parentSeq, long local, long engineHash) {
      return hash.roll(parentSeq, local, scratch);
    }
  }

  /** The engine's own hash covers the whole prefix. */
  record Engine() implements PrefixHasher {
    @Override
    public boolean needsLocal() {
      return false;
    }

    @Override
    public long first(long local, long engineHash) {
      return engineHash;
    }

    @Override
    public long next(long parentSeq, long local, long engineHash) {
      return engineHash;
    }
  }
}
