// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

/** What is asked, by the path. */
public enum QueryForm {
  /** {@code /query}: {@code token_ids}. */
  TOKENS("/query"),
  /**
   * {@code /query_by_hash}: {@code seq_hashes}, in older drafts {@code block_hash}; Dynamo's local
   * {@code block_hashes}.
   */
  HASHES("/query_by_hash"),
  /** {@code /query_tiered_by_hash}: local {@code block_hashes}, answered by tier; Dynamo only. */
  TIERED("/query_tiered_by_hash");

  private final String path;

  QueryForm(String path) {
    this.path = path;
  }

  /** Path it is served at. */
  public String path() {
    return path;
  }

  /** Its name in metrics. */
  public String label() {
    return path.substring(1);
  }
}
