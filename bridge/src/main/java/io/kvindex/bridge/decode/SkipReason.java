// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.bridge.metrics.Labelled;
import java.util.EnumSet;
import java.util.Set;

/**
 * Why a single event of a good batch was left out: the first three while decoding, the others where
 * the registration is known.
 */
public enum SkipReason implements Labelled {
  /** A tag this version does not know. */
  UNKNOWN_TAG,
  /** No tag, a required member missing, or a member of an impossible type or value. */
  MALFORMED,
  /**
   * Holds a name beyond {@value ValueReader#MAX_TEXT_BYTES} bytes, which no record has room for.
   */
  NAME_TOO_LONG,
  /** Names no block. */
  NO_HASHES,
  /** Its block size is not the registered one. */
  BLOCK_SIZE_MISMATCH,
  /** The beginning of a block that is not full yet. */
  PARTIAL_BLOCK,
  /** Belongs to an attention group that is not indexed (sliding window, mamba...). */
  ATTENTION_GROUP,
  /** Speaks of blocks that lie outside the instance. */
  NOT_LOCAL,
  /** Of another model than the registered one. */
  OTHER_MODEL,
  /** Of another tenant than the registered one. */
  OTHER_TENANT,
  /** Names neither the block before nor a depth, so that its blocks have no place in a prompt. */
  NO_POSITION,
  /** Not beyond the last event of its stream. */
  DUPLICATE_EVENT,
  /** Of a stream beyond those told apart, or with names too long to tell. */
  STREAM_LIMIT,
  /** The key of an object that tells no block. */
  UNPARSED_KEY,
  /** A part of a block that does not go with the registered {@code shards}. */
  SHARD_MISMATCH,
  /** Removed from a lower tier of which a pool keeps account. */
  POOLED_TIER;

  private static final Set<SkipReason> EXPECTED =
      EnumSet.of(
          NO_HASHES,
          PARTIAL_BLOCK,
          ATTENTION_GROUP,
          NOT_LOCAL,
          OTHER_TENANT,
          DUPLICATE_EVENT,
          POOLED_TIER);

  /** Whether the event or the registration is wrong, and not only of no use here. */
  public boolean isFault() {
    return !EXPECTED.contains(this);
  }
}
