// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

/**
 * What a stored event says of the block before its first one.
 *
 * @param kind how to read it
 * @param hash engine hash of the parent, 0 unless {@link Kind#HASH}
 */
public record Parent(Kind kind, long hash) {

  /** The ordinal is stored: never reorder. */
  public enum Kind {
    /** The first block opens a prompt. */
    ROOT,
    /** The parent has a name. */
    HASH,
    /** Nothing is known; never to be read as the root. */
    UNKNOWN
  }

  /** The first block opens a prompt. */
  public static final Parent ROOT = new Parent(Kind.ROOT, 0);

  /** The event does not say what came before. */
  public static final Parent UNKNOWN = new Parent(Kind.UNKNOWN, 0);

  /** Whether the parent has a name. */
  public boolean isNamed() {
    return kind == Kind.HASH;
  }

  /** The block with that engine hash comes before. */
  public static Parent of(long engineHash) {
    return new Parent(Kind.HASH, engineHash);
  }
}
