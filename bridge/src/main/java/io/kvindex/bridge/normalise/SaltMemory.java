// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.model.event.Hashes;
import org.jspecify.annotations.Nullable;

/**
 * Which blocks of a publisher are salted: vLLM says so with the first block of a prompt only, and a
 * hash rule with the salt in the seed needs it for those below as well. Bounded: a newer block
 * takes the place of an older one. Where a salt is forgotten (also when the bridge restarts) what
 * is stored below that block is hashed as if it had none, which no query asks for: a miss, never a
 * hit for somebody else. For one thread.
 */
final class SaltMemory {

  /** A power of two; some 800 kB, taken with the first salt. */
  private static final int PLACES = 1 << 16;

  /** What Dynamo writes before the salts it hands to vLLM; its queries have it without. */
  private static final String DYNAMOS_PREFIX = "dynamo-cache-salt:";

  private long[] blocks = {};
  private @Nullable String[] salts = {};

  /** The salt of a stored event's blocks, its own or that of the block before; null = none. */
  @Nullable String of(EngineEvent.Stored stored) {
    String salt = stored.salt();
    if (salt == null || salt.isEmpty()) {
      salt = of(stored.parent());
    } else if (salt.startsWith(DYNAMOS_PREFIX)) {
      salt = salt.substring(DYNAMOS_PREFIX.length());
    }
    if (salt != null) {
      learn(stored.hashes(), salt);
    }
    return salt;
  }

  private @Nullable String of(@Nullable Long block) {
    if (block == null || salts.length == 0) {
      return null;
    }
    int place = place(block);
    return blocks[place] == block ? salts[place] : null;
  }

  private void learn(Hashes hashes, String salt) {
    if (salts.length == 0) {
      blocks = new long[PLACES];
      salts = new String[PLACES];
    }
    for (int i = 0; i < hashes.size(); i++) {
      int place = place(hashes.get(i));
      blocks[place] = hashes.get(i);
      salts[place] = salt;
    }
  }

  private static int place(long block) {
    return (int) (block * 0x9E3779B97F4A7C15L >>> 48);
  }
}
