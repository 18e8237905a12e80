// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.TableId;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.PartitionView;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One entry of a dump: a table, or a part of it.
 *
 * @param key its name in the dump
 * @param view where its blocks are, null = not in this replica
 * @param extended whether it holds what Dynamo has no words for, so that it must not be taken for
 *     the model's own index
 * @param base whether it holds blocks outside any context
 * @param contexts names of the other contexts it holds, by hash
 * @param last whether no other entry holds what this one leaves out
 */
record DumpPart(
    String key,
    TableId table,
    @Nullable PartitionView view,
    boolean extended,
    boolean base,
    Map<Long, ContextNames> contexts,
    boolean last) {

  /** Whether blocks of that context belong here; 0 = none. */
  boolean holds(long context) {
    return context == 0 ? base : contexts.containsKey(context);
  }

  /** Whether a block must have a hash of its tokens: its name alone says nothing. */
  boolean needsTokens() {
    return !table.hashProfile().algorithm().isEngineNamed();
  }
}
