// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

/** What a store in the host tier says about the block. */
public enum HostStoreForm {
  /** Tokens, parent and block size, as a device store. */
  TOKENS,
  /** vLLM's offloading default: the hash only; no tokens, block size 0, nil parent. */
  PLACEHOLDER
}
