// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.SeqHash;

/** What the server hashes a load's blocks to, under the default profile. Not thread-safe. */
final class BlockHasher {
  private final SeqHash rule = new SeqHash(HashProfile.XXH3_DEFAULT.xxh3Seed());
  private final int[] tokens = new int[LoadShape.BLOCK_SIZE];

  /** Hash of one block's tokens. */
  long local(long engineHash) {
    for (int k = 0; k < tokens.length; k++) {
      tokens[k] = LoadShape.token(engineHash, k);
    }
    return rule.local(tokens, 0, tokens.length);
  }

  /** Hash of a prompt up to and with a block. */
  long rolled(boolean firstBlock, long parentSeq, long local) {
    return firstBlock ? local : rule.roll(parentSeq, local);
  }
}
