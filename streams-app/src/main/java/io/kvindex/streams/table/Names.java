// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.row.ContextRow;
import io.kvindex.streams.view.ContextNames;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Names behind hashes and numbers, for readers: rows {@code C} and {@code L}. Read by any thread.
 */
public final class Names {

  private record Adapter(long loraId, String instanceId) {}

  private final Map<Integer, Map<Long, ContextNames>> contexts = new ConcurrentHashMap<>();
  private final Map<Integer, Map<Adapter, String>> adapters = new ConcurrentHashMap<>();

  Names() {}

  void foldContext(int tableRef, long hash, ContextRow row) {
    contexts
        .computeIfAbsent(tableRef, t -> new ConcurrentHashMap<>())
        .put(hash, new ContextNames(hash, row.loraName(), row.namespace(), row.salt()));
  }

  void foldLora(int tableRef, long loraId, String instanceId, String name) {
    adapters
        .computeIfAbsent(tableRef, t -> new ConcurrentHashMap<>())
        .put(new Adapter(loraId, instanceId), name);
  }

  /** Whether the context's names are known already. */
  public boolean knowsContext(int tableRef, long hash) {
    return contexts.getOrDefault(tableRef, Map.of()).containsKey(hash);
  }

  /** How many contexts a table has. */
  public int contextCount(int tableRef) {
    return contexts.getOrDefault(tableRef, Map.of()).size();
  }

  /** Name of an adapter number, null = never told. */
  public @Nullable String lora(int tableRef, long loraId, String instanceId) {
    return adapters.getOrDefault(tableRef, Map.of()).get(new Adapter(loraId, instanceId));
  }

  /** How many adapters of a table are known by number, over all instances. */
  public int loraCount(int tableRef) {
    return adapters.getOrDefault(tableRef, Map.of()).size();
  }

  Collection<ContextNames> contexts(int tableRef) {
    Map<Long, ContextNames> found = contexts.get(tableRef);
    return found == null ? List.of() : found.values();
  }
}
