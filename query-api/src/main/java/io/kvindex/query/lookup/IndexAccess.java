// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lookup;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import org.jspecify.annotations.Nullable;

/** All tables this replica can read. Thread-safe; no method blocks. */
public interface IndexAccess {
  /**
   * The view of a table. A table nobody has stored anything in is a view of an empty index.
   *
   * @return null if this replica cannot read the table's partition (yet)
   */
  @Nullable TableView view(TableId table);

  /** Why this replica should get no traffic yet, null if it may. */
  @Nullable String notReadyReason();

  /**
   * How far a publisher's events are visible.
   *
   * @return the last event id applied, null if none
   */
  @Nullable Long visibleEventId(PublisherId publisher);
}
