// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.EngineEvent;
import io.kvindex.bridge.decode.TokenIds.Fit;
import io.kvindex.model.event.Parent;

/** How an engine's parent hash, or its absence, is to be read. */
final class Parents {

  private Parents() {}

  /**
   * A stated parent is one, except 0, which storage publishers and LMCache write for not known. No
   * parent means the start of a prompt only where the engine describes the block by its tokens; a
   * store without tokens is a change of tier of blocks described before. Nor does it where only
   * connectors to a store spell the medium so: vLLM's Mooncake connector states no parent for the
   * first block of each put, wherever in the prompt it stands.
   */
  static Parent of(EngineEvent.Stored stored) {
    Long parent = stored.parent();
    if (parent != null) {
      return parent == 0 ? Parent.UNKNOWN : Parent.of(parent);
    }
    boolean described =
        stored.tokens().fit() != Fit.NONE && !ConnectorMedia.CPU.equals(stored.scope().medium());
    return described ? Parent.ROOT : Parent.UNKNOWN;
  }
}
