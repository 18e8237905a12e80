// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import java.util.BitSet;

/**
 * What one engine holds of one prompt, block by block, and the numbers a router's query gives for
 * it: walk from the start while any tier holds the block; each tier counts the walked blocks it
 * holds, holes allowed. Immutable. Counts are in tokens of full blocks.
 */
public final class Holdings {
  private final int blockSize;
  private final int blocks;
  private final BitSet gpu;
  private final BitSet host;

  Holdings(int blockSize, int blocks, BitSet gpu, BitSet host) {
    this.blockSize = blockSize;
    this.blocks = blocks;
    this.gpu = gpu;
    this.host = host;
  }

  /** Full blocks in the prompt. */
  public int blocks() {
    return blocks;
  }

  /** Whether {@code medium} holds block {@code index} of the prompt, counted from 0. */
  public boolean holds(Medium medium, int index) {
    return (medium == Medium.GPU ? gpu : host).get(index);
  }

  /** Tokens from the start that some tier holds without a hole. */
  public int longestMatched() {
    return walked() * blockSize;
  }

  /** Tokens among the {@link #longestMatched()} that {@code medium} holds. */
  public int tokens(Medium medium) {
    return (medium == Medium.GPU ? gpu : host).get(0, walked()).cardinality() * blockSize;
  }

  private int walked() {
    BitSet any = (BitSet) gpu.clone();
    any.or(host);
    return Math.min(any.nextClearBit(0), blocks);
  }

  @Override
  public String toString() {
    return "longest="
        + longestMatched()
        + " gpu="
        + tokens(Medium.GPU)
        + " host="
        + tokens(Medium.HOST);
  }
}
