// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.overview;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.lookup.EmptyIndex;
import io.kvindex.query.lookup.LocalView;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.lookup.Trust;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.view.ContextNames;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Tables a test says there are; all others are not in this replica. */
public final class FixedTables extends EmptyIndex {

  private record Table(PrefixIndex index, List<ContextNames> contexts) implements LocalView {
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
  }

  private final Map<TableId, Table> tables = new HashMap<>();

  void put(TableId table, PrefixIndex index, ContextNames... contexts) {
    tables.put(table, new Table(index, List.of(contexts)));
  }

  @Override
  public @Nullable TableView view(TableId table) {
    return tables.get(table);
  }
}
