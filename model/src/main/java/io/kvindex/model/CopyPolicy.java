// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model;

/**
 * How repeated stores of one block by one owner are kept. The ordinal is stored in records: never
 * reorder.
 *
 * <p>Source: vLLM emits one {@code BlockStored} and one {@code BlockRemoved} per physical copy,
 * others per block.
 */
public enum CopyPolicy {
  /** Stores add a copy, removals take one away; the block is gone with the last copy. */
  COUNT,
  /** A block is there or not, however often it was announced. */
  SET;

  /** What a source of that type does unless its registration says otherwise. */
  public static CopyPolicy defaultFor(SourceType type) {
    return type == SourceType.VLLM ? COUNT : SET;
  }
}
