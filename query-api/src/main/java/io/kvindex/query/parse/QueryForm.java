// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

/** Which array a body must bring. */
public enum QueryForm {
  /** {@code /query}: {@code token_ids}. */
  TOKENS,
  /** {@code /query_by_hash}: {@code seq_hashes}, in older drafts {@code block_hash}. */
  HASHES
}
