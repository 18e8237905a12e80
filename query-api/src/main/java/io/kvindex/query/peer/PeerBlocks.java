// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.PublisherId;
import io.kvindex.model.event.KvEvent.Stored;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.event.StatedContext;
import io.kvindex.model.hash.HashProfile;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What one publisher holds by a dump. For one thread at a time. */
final class PeerBlocks {

  /**
   * Whose blocks they are.
   *
   * @param profile how their prefixes are hashed, null = as Dynamo does
   */
  record Source(
      PublisherId publisher, String model, int blockSize, @Nullable HashProfile profile) {}

  /** A cache of the publisher and what its blocks belong to. */
  record Where(String medium, int rank, StatedContext context) {}

  private final Map<Where, BlockRuns> runs = new LinkedHashMap<>();
  private long blocks;

  long blocks() {
    return blocks;
  }

  /** The runs in a cache, to be added to by {@link #added}. */
  BlockRuns at(Where where) {
    return runs.computeIfAbsent(where, w -> new BlockRuns());
  }

  void added(long more) {
    blocks += more;
  }

  /** Forgets what a rank holds; how many blocks that were. */
  long forget(int rank) {
    long before = blocks;
    runs.forEach((where, some) -> blocks -= where.rank() == rank ? some.blocks() : 0);
    runs.keySet().removeIf(where -> where.rank() == rank);
    return before - blocks;
  }

  /** Tells all blocks as events of an import. */
  void stored(boolean tokens, Consumer<Stored> to) {
    runs.forEach(
        (where, some) ->
            some.stored(
                PeerImport.place(where.medium(), where.rank()), where.context(), tokens, to));
  }
}
