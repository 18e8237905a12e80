// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.TableView;
import io.kvindex.streams.view.StreamPosition;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A replica that holds no table; all are in partition 0. */
final class NoIndex implements IndexAccess {

  @Override
  public @Nullable TableView view(TableId table) {
    return null;
  }

  @Override
  public int partitionOf(TableId table) {
    return 0;
  }

  @Override
  public @Nullable String notReadyReason() {
    return null;
  }

  @Override
  public @Nullable StreamPosition position(TableId table, PublisherId publisher) {
    return null;
  }

  @Override
  public Map<PublisherId, Map<String, Long>> blocks() {
    return Map.of();
  }
}
