// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.TableId;
import io.kvindex.query.lookup.TableView;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Asks for {@link TableNames}.
 *
 * @param notBefore offset of the events that must be visible, {@link TableView#ANY_OFFSET} = none
 * @param loraId the adapter id whose names are wanted, -1 = none
 * @param instances whose names of it are wanted; empty where no adapter is asked for
 */
record NamesRequest(TableId table, long notBefore, long loraId, List<String> instances) {
  private static final long NO_ADAPTER = -1;

  NamesRequest {
    Objects.requireNonNull(table);
    instances = List.copyOf(instances);
  }

  /** What does not depend on an adapter. */
  static NamesRequest of(TableId table) {
    return new NamesRequest(table, TableView.ANY_OFFSET, NO_ADAPTER, List.of());
  }

  /** The same of a table that shows an offset of the events. */
  NamesRequest from(long offset) {
    return new NamesRequest(table, offset, loraId, instances);
  }

  /** Adapter names, where they are asked for. */
  Map<String, String> adapters(TableView view) {
    return loraId < 0 ? Map.of() : view.loraNames(loraId, instances);
  }

  byte[] encode() {
    return PlainMessage.encode(this);
  }
}
