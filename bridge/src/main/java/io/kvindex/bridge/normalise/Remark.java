// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.metrics.Labelled;

/** What is worth counting about events that were kept. */
public enum Remark implements Labelled {
  /** Tokens that do not go with hashes and block size: indexed by engine hash only. */
  TOKENS_UNUSABLE,
  /** Tokens in pairs (speculative decoding): a block of n pairs is indexed by its n + 1 tokens. */
  TOKENS_PAIRED,
  /** Blocks whose content depends on more than tokens, adapter and salt. */
  EXTRA_KEYS,
  /** A depth that contradicts what hash or parent say of it: the hash wins. */
  INDEX_MISMATCH,
  /** Names that are not the standard's hashes of the event's own tokens: indexed by the tokens. */
  NON_STANDARD_HASH,
  /** Parts of blocks of a store whose registration does not say how many there are: one counts. */
  UNVERIFIED_SHARDS,
  /** Objects of an attention group of which nobody declared that it needs every block. */
  UNVERIFIED_GROUP,
  /** Taken for unsalted, but a block above may be a salted one that is forgotten. */
  UNVERIFIED_SALT,
  /** Much was stored on a lower tier and nothing ever removed from it. */
  UNVERIFIED_TIER;
}
