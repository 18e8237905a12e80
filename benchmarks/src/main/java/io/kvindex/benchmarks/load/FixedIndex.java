// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.lookup.IndexAccess;
import io.kvindex.query.lookup.LocalView;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.view.ContextNames;
import io.kvindex.streams.view.StreamPosition;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One index that answers for every table, always exact. */
record FixedIndex(PrefixIndex index) implements IndexAccess, LocalView {

  @Override
  public TableView view(TableId table) {
    return this;
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

  @Override
  public Trust trust() {
    return Trust.EXACT;
  }

  @Override
  public long lagMs() {
    return 0;
  }

  @Override
  public Set<PublisherId> degradedPublishers() {
    return Set.of();
  }

  @Override
  public Collection<ContextNames> contexts() {
    return List.of();
  }
}
