// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.peer;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.streams.view.StreamPosition;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Says how far publishers are visible, as a test has it, and has no table. */
final class Positions implements IndexAccess {
  final Map<PublisherId, StreamPosition> known = new HashMap<>();
  volatile List<String> replicas = List.of();

  @Override
  public @Nullable TableView view(TableId table) {
    return null;
  }

  @Override
  public @Nullable String notReadyReason() {
    return null;
  }

  @Override
  public @Nullable StreamPosition position(TableId table, PublisherId publisher) {
    return known.get(publisher);
  }

  @Override
  public Map<PublisherId, Map<String, Long>> blocks() {
    return Map.of();
  }

  @Override
  public List<String> otherReplicas() {
    return replicas;
  }
}
