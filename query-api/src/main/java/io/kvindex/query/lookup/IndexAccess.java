// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lookup;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.error.ApiException;
import io.kvindex.query.error.ErrorCode;
import io.kvindex.streams.view.PartitionView;
import io.kvindex.streams.view.StreamPosition;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All tables this replica can read. Thread-safe; no method blocks, but a view may. */
public interface IndexAccess {
  /**
   * The view of a table. A table nobody has stored anything in is a view of an empty index.
   *
   * @return null if this replica cannot read the table's partition (yet)
   */
  @Nullable TableView view(TableId table);

  /**
   * The same for who has to answer.
   *
   * @throws ApiException (503) saying how far the table's partition is, if it can not be read
   */
  default TableView readable(TableId table) {
    TableView view = view(table);
    if (view == null) {
      String reason = notReadyReason(table);
      throw ErrorCode.NOT_READY.because(
          "the index of this model is not readable here yet"
              + (reason == null ? "" : " (" + reason + ")")
              + "; try again");
    }
    return view;
  }

  /** Why this replica should get no traffic yet, null if it may. */
  @Nullable String notReadyReason();

  /** The same for one table: how far its partition is. */
  default @Nullable String notReadyReason(TableId table) {
    return notReadyReason();
  }

  /**
   * How far a publisher's events are visible, null = not at all, or not in this replica.
   *
   * @param table the table the publisher is registered for
   */
  @Nullable StreamPosition position(TableId table, PublisherId publisher);

  /**
   * Blocks that queries can find, by publisher and medium; cheap to ask for. Where blocks expire,
   * one announced again counts again until its earlier announcement has expired. Publishers whose
   * table is not in this replica are missing.
   */
  Map<PublisherId, Map<String, Long>> blocks();

  /**
   * {@code host:port} of the other replicas of this index, as they advertise themselves; in order.
   */
  default List<String> otherReplicas() {
    return List.of();
  }

  /** What people should look at in this replica though it is ready, null = nothing. */
  default @Nullable String warning() {
    return null;
  }

  /** Name of the copy this replica answers from, empty = it has none. */
  default String copy() {
    return "";
  }

  /** The partition that holds a table, null = not in this replica. */
  default @Nullable PartitionView partition(TableId table) {
    return null;
  }

  /** Number of the partition a table belongs to, in whichever replica that is; -1 = not known. */
  default int partitionOf(TableId table) {
    return -1;
  }

  /** All partitions in this replica. */
  default Collection<PartitionView> partitions() {
    return List.of();
  }
}
