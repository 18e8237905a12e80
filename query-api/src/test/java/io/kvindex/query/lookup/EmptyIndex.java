// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lookup;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.streams.view.StreamPosition;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A replica that is ready and has no table; tests add what they need. */
public class EmptyIndex implements IndexAccess {

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
    return null;
  }

  @Override
  public Map<PublisherId, Map<String, Long>> blocks() {
    return Map.of();
  }
}
