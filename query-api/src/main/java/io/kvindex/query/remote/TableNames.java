// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.query.lookup.TableView;
import io.kvindex.streams.view.ContextNames;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * What some forms of queries have to know of a table beside its blocks.
 *
 * @param told how far to trust it
 * @param blocks blocks queries can find
 * @param contexts contexts that were announced
 * @param loraNames by instance, names of the adapter id that was asked for
 */
record TableNames(
    Told told, long blocks, List<ContextNames> contexts, Map<String, String> loraNames) {

  TableNames {
    Objects.requireNonNull(told);
    contexts = List.copyOf(contexts);
    loraNames = Map.copyOf(loraNames);
  }

  /** What this replica knows of a table. */
  static TableNames of(TableView view, NamesRequest request) {
    return new TableNames(
        Told.of(view), view.blockCount(), List.copyOf(view.contexts()), request.adapters(view));
  }

  static TableNames decode(byte[] bytes) {
    return PlainMessage.decode(bytes, TableNames.class);
  }
}
