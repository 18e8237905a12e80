// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

/**
 * Name of one block: the 64 bits sent on the wire and the digest the next block's hash rolls on
 * (empty where the algorithm keeps none). The array is shared and never written again.
 */
final class BlockHash {
  private final long wire;
  private final byte[] digest;

  BlockHash(long wire, byte[] digest) {
    this.wire = wire;
    this.digest = digest;
  }

  long wire() {
    return wire;
  }

  byte[] digest() {
    return digest;
  }
}
