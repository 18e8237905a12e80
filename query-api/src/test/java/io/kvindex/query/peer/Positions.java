// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.lookup.EmptyIndex;
import io.kvindex.streams.view.StreamPosition;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Says how far publishers are visible, as a test has it, and has no table. */
final class Positions extends EmptyIndex {
  final Map<PublisherId, StreamPosition> known = new HashMap<>();
  volatile List<String> replicas = List.of();

  @Override
  public @Nullable StreamPosition position(TableId table, PublisherId publisher) {
    return known.get(publisher);
  }

  @Override
  public List<String> otherReplicas() {
    return replicas;
  }
}
