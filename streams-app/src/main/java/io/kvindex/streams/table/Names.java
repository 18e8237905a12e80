// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.table;

import io.kvindex.streams.view.ContextNames;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Names behind hashes and numbers of a table, for readers: rows {@code C} and {@code L}. Read by
 * any thread.
 *
 * @param contexts by their hashes
 * @param adapters names of those that instances have numbers for
 */
public record Names(Map<Long, ContextNames> contexts, Map<Adapter, String> adapters) {

  /** An adapter as an instance numbers it. */
  public record Adapter(long loraId, String instanceId) {}

  Names() {
    this(new ConcurrentHashMap<>(), new ConcurrentHashMap<>());
  }
}
