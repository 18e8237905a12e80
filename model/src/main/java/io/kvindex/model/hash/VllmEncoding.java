// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.hash;

/** How vLLM turns what a block hash covers into bytes. Not thread-safe. */
interface VllmEncoding {

  /**
   * The seed text, whose digest is the parent of first blocks.
   *
   * @param utf8 the text
   */
  void seed(byte[] utf8);

  /**
   * A block: {@code (parent, (token, ...), (key, ...) or None)}.
   *
   * @param parent digest of the block before
   * @param keys extra keys, none = None; each by its parts as UTF-8: one is a text, more are a
   *     tuple
   */
  void block(byte[] parent, int[] tokens, int offset, int length, byte[][][] keys);

  /** What was encoded last. */
  ByteSink encoded();
}
