// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.view;

import io.kvindex.model.event.Parent;
import io.kvindex.streams.index.Owner;
import java.io.IOException;

/** Takes what a table holds, see {@link PartitionView#dump}. Called by the thread that asked. */
public interface DumpVisitor {

  /** Why a resident block is in no dump. */
  enum LeftOut {
    /** Its prefix is not known. */
    ORPHAN,
    /** Not all attention groups hold it. */
    INCOMPLETE
  }

  /**
   * A run of consecutive blocks of one prompt, held by one owner. Within an owner no block comes
   * before its parent, unless their prefix hashes are the engine's own, which need no parents.
   *
   * @param context hash of the context, 0 = plain; see {@link PartitionView#contexts}
   * @param parent the block before the first one
   * @param hashes engine hashes; valid during the call, as is {@code locals}
   * @param locals hashes of the blocks' tokens, 0 = never told
   * @param count blocks, at least 1
   * @throws IOException ends the dump
   */
  void run(Owner owner, long context, Parent parent, long[] hashes, long[] locals, int count)
      throws IOException;

  /** A block that is held and not told. */
  void leftOut(LeftOut reason);
}
