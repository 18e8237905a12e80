// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lookup;

import io.kvindex.streams.index.BlockKeys;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.index.PrefixReader;
import io.kvindex.streams.index.RunVisitor;

/**
 * A table of this process. No method waits; a view stays readable when the task behind it has gone,
 * it only turns stale.
 */
public interface LocalView extends TableView {
  /** The index to walk; one without any block if nothing was ever stored. */
  PrefixIndex index();

  @Override
  default int walk(PrefixReader reader, BlockKeys keys, long[] xors, RunVisitor visitor) {
    return reader.walk(index(), keys, xors, visitor);
  }

  @Override
  default long blockCount() {
    return index().figures().blocks();
  }
}
