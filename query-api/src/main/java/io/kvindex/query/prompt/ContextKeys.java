// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.prompt;

import io.kvindex.model.hash.CacheSalt;
import io.kvindex.model.hash.HashProfile;
import io.kvindex.model.hash.HashProfile.Algorithm;
import io.kvindex.model.hash.PromptHasher;
import io.kvindex.query.prompt.Contexts.Names;
import io.kvindex.streams.index.BlockKeys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The prefix hashes of one prompt of tokens, by every rule its blocks may be in a table by. Under a
 * rule that covers adapter or salt each context has a chain of its own. Chains beside those cost
 * next to nothing where nobody holds their first block ({@link #isOptional}):
 *
 * <ul>
 *   <li>blocks of pairs, from engines that decode speculatively;
 *   <li>under a rule of an engine, blocks that are indexed by their tokens: {@link
 *       HashProfile#byTokens};
 *   <li>adapter and salt as vLLM hashes them since 0.32, beside the way before: while a fleet is
 *       upgraded both stand side by side;
 *   <li>the salt behind the marker Dynamo hands it to engines with.
 * </ul>
 *
 * Made as the walk asks for them; reused; one thread at a time.
 */
final class ContextKeys implements BlockKeys {

  /** Stands for a block whose last pair is not in the prompt: no hash that is ever stored. */
  private static final long NO_BLOCK = 0x5AD0_97C1_3E84_F26BL;

  private final HashProfile profile;
  private final Chains own;
  private final Chains byTokens;
  private final Chains byPairs;

  /** A chain for each thing to look up; neighbours may share one. */
  private final List<Chain> lanes = new ArrayList<>();

  private long[] laneXors = new long[8];
  private boolean[] laneOptional = new boolean[8];
  private long[] xors = {};
  private int[] tokens = {};
  private int count;
  private int blockSize;

  ContextKeys(HashProfile profile) {
    this.profile = profile;
    own = new Chains(() -> PromptHasher.of(profile));
    byTokens = new Chains(() -> PromptHasher.of(profile.byTokens()));
    byPairs = new Chains(() -> PromptHasher.ofPairs(profile.byTokens()));
  }

  /**
   * Takes a prompt.
   *
   * @param pathsOf where an adapter is loaded from, as far as registrations say
   */
  ContextKeys ofTokens(
      int[] ids,
      int length,
      int size,
      List<Names> contexts,
      Function<String, Collection<String>> pathsOf) {
    tokens = ids;
    count = length;
    blockSize = size;
    lanes.clear();
    own.reuse();
    byTokens.reuse();
    byPairs.reuse();
    boolean engineNamed = profile.algorithm().isEngineNamed();
    if (engineNamed) {
      for (Names names : contexts) {
        addOwn(names, pathsOf);
      }
    }
    addByTokens(byTokens, contexts, engineNamed);
    addByTokens(byPairs, contexts, true);
    if (xors.length != lanes.size()) {
      xors = new long[lanes.size()];
    }
    System.arraycopy(laneXors, 0, xors, 0, xors.length);
    return this;
  }

  /** What to xor into the hashes, one for each context; overwritten with the next prompt. */
  long[] xors() {
    return xors;
  }

  /** The engine's own hashes of a context, in each way engines hash its names. */
  private void addOwn(Names names, Function<String, Collection<String>> pathsOf) {
    long xor = xor(names);
    addOwn(names, names.salt(), pathsOf, xor, false);
    if (!names.salt().isEmpty()) {
      addOwn(names, CacheSalt.DYNAMOS_MARKER + names.salt(), pathsOf, xor, true);
    }
  }

  private void addOwn(
      Names names,
      String salt,
      Function<String, Collection<String>> pathsOf,
      long xor,
      boolean beside) {
    Chain untagged = own.next();
    untagged.hasher.begin(names.lora(), salt);
    add(untagged, xor, beside);
    boolean tags = profile.algorithm().coversLora(); // vLLM
    if (tags && !names.lora().isEmpty()) {
      for (String path : pathsOf.apply(names.lora())) {
        addTagged(names.lora(), path, salt, xor);
      }
    } else if (tags && !salt.isEmpty()) {
      addTagged("", "", salt, xor);
    }
  }

  private void addTagged(String lora, String path, String salt, long xor) {
    Chain tagged = own.next();
    tagged.hasher.beginTagged(lora, path, salt);
    add(tagged, xor, true);
  }

  private void addByTokens(Chains chains, List<Names> contexts, boolean beside) {
    Chain chain = null;
    for (Names names : contexts) {
      if (chain == null || profile.byTokens().algorithm() != Algorithm.XXH3) {
        chain = chains.next();
        chain.hasher.begin(names.lora(), names.salt());
      }
      add(chain, xor(names), beside);
    }
  }

  private void add(Chain chain, long xor, boolean beside) {
    int lane = lanes.size();
    if (lane == laneXors.length) {
      laneXors = Arrays.copyOf(laneXors, 2 * lane);
      laneOptional = Arrays.copyOf(laneOptional, 2 * lane);
    }
    laneXors[lane] = xor;
    laneOptional[lane] = beside;
    chain.blocks = chain.hasher.blocks(count, blockSize);
    lanes.add(chain);
  }

  private long xor(Names names) {
    return profile.context(names.lora(), names.namespace(), names.salt());
  }

  @Override
  public BlockKeys in(int context) {
    return lanes.get(context);
  }

  @Override
  public boolean isOptional(int context) {
    return laneOptional[context];
  }

  @Override
  public int fill(long[] out, int from, int max) {
    return lanes.get(0).fill(out, from, max);
  }

  /** Chains of one rule, made once and handed out in order for each prompt. */
  private final class Chains {
    private final Supplier<PromptHasher> rule;
    private final List<Chain> made = new ArrayList<>();
    private int used;

    Chains(Supplier<PromptHasher> rule) {
      this.rule = rule;
    }

    void reuse() {
      used = 0;
    }

    Chain next() {
      if (used == made.size()) {
        made.add(new Chain(rule.get()));
      }
      return made.get(used++);
    }
  }

  /** All chains have the same number of blocks, as walks want it. */
  private final class Chain implements BlockKeys {
    private final PromptHasher hasher;
    private int blocks;

    Chain(PromptHasher hasher) {
      this.hasher = hasher;
    }

    @Override
    public int fill(long[] out, int from, int max) {
      int filled = Math.min(max, count / blockSize - from);
      for (int i = 0; i < filled; i++) {
        int block = from + i;
        out[i] = block < blocks ? hasher.next(tokens, block * blockSize, blockSize) : NO_BLOCK;
      }
      return filled;
    }
  }
}
