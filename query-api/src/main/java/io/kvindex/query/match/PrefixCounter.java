// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import io.kvindex.streams.index.RunVisitor;

/** A dialect's rule of how much of a prompt each instance holds. One thread at a time. */
public interface PrefixCounter {

  /** Begins a count for these instances: what has to follow the walk. */
  RunVisitor over(InstanceSet listed);
}
