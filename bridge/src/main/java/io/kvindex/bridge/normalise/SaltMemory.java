// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.model.event.Hashes;
import io.kvindex.model.event.Parent;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which blocks of a publisher are salted: vLLM says so with the first block of a prompt only, and a
 * hash rule with the salt in the seed needs it for those below as well. Bounded in blocks, of which
 * a newer one takes the place of the oldest it meets, and in text. Where a salt is forgotten (also
 * when the bridge restarts) what is stored below that block is hashed as if it had none, which no
 * query asks for: a miss, never a hit for somebody else. For one thread.
 */
final class SaltMemory {

  /** Blocks that may stand in one another's way. */
  private static final int WAYS = 8;

  /** 2 to the power of it are the sets of so many places; in all 65,536 places and some 800 kB. */
  private static final int SET_BITS = 13;

  /** Characters of all salts: a 64th of what as many salts of the greatest length would take. */
  static final int MOST_CHARS = 4 << 20;

  /** A salt as one event stated it, and how many places name it. */
  private static final class Salt {
    final String text;
    int places;

    Salt(String text) {
      this.text = text;
    }
  }

  private boolean complete;
  private int chars;

  /** In each set the newest block comes first. Taken with the first salt. */
  private long[] blocks = {};

  private @Nullable Salt[] salts = {};

  /**
   * @param complete whether no block was stored before
   */
  SaltMemory(boolean complete) {
    this.complete = complete;
  }

  /** The salt of a stored event's blocks, its own or that of the block before; null = none. */
  @Nullable String of(EngineEvent.Stored stored) {
    String own = stored.salt();
    Salt salt;
    if (own == null || own.isEmpty()) {
      salt = of(stored.parent());
    } else {
      salt = new Salt(own);
    }
    if (salt == null) {
      return null;
    }
    learn(stored.hashes(), salt);
    return salt.text;
  }

  /**
   * Whether blocks taken for unsalted may be below a salted one that is not known any more, or was
   * stored before this memory began.
   */
  boolean isUnsure(EngineEvent.Stored stored) {
    boolean salted = stored.salt() != null && !stored.salt().isEmpty();
    return !complete && !salted && stored.parent().isNamed() && of(stored.parent()) == null;
  }

  private @Nullable Salt of(Parent block) {
    if (!block.isNamed() || salts.length == 0) {
      return null;
    }
    int set = set(block.hash());
    int place = place(set, block.hash());
    return place < set + WAYS ? salts[place] : null;
  }

  private void learn(Hashes hashes, Salt salt) {
    if (salts.length == 0) {
      blocks = new long[WAYS << SET_BITS];
      salts = new Salt[WAYS << SET_BITS];
    }
    if (salt.places == 0 && chars + salt.text.length() > MOST_CHARS) {
      forgetAll();
    }
    for (int i = 0; i < hashes.size(); i++) {
      learn(hashes.get(i), salt);
    }
  }

  private void learn(long block, Salt salt) {
    int set = set(block);
    int place = place(set, block);
    boolean known = place < set + WAYS;
    int last = known ? place : set + WAYS - 1;
    hold(salt);
    Salt former = salts[last];
    if (former != null) {
      complete &= known;
      release(former);
    }
    System.arraycopy(blocks, set, blocks, set + 1, last - set);
    System.arraycopy(salts, set, salts, set + 1, last - set);
    blocks[set] = block;
    salts[set] = salt;
  }

  private void hold(Salt salt) {
    if (salt.places++ == 0) {
      chars += salt.text.length();
    }
  }

  private void release(Salt salt) {
    if (--salt.places == 0) {
      chars -= salt.text.length();
    }
  }

  private void forgetAll() {
    Arrays.fill(salts, null);
    chars = 0;
    complete = false;
  }

  /** Where a block is in its set, the set's end if nowhere. */
  private int place(int set, long block) {
    int place = set;
    while (place < set + WAYS && (salts[place] == null || blocks[place] != block)) {
      place++;
    }
    return place;
  }

  private static int set(long block) {
    return (int) (block * 0x9E3779B97F4A7C15L >>> Long.SIZE - SET_BITS) * WAYS;
  }
}
