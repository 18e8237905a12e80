// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** All registrations at one moment, with the views queries need. Immutable. */
public final class RegistrationSnapshot {
  /** Nothing registered. */
  public static final RegistrationSnapshot EMPTY = new RegistrationSnapshot(new TreeMap<>());

  private final NavigableMap<PublisherId, Registered> byPublisher;
  // tenant -> model -> block size: nested, so that a query looks up without building a key
  private final Map<String, Map<String, NavigableMap<Integer, RegisteredTable>>> tables =
      new TreeMap<>();

  /**
   * @param byPublisher taken over, never changed again
   */
  RegistrationSnapshot(NavigableMap<PublisherId, Registered> byPublisher) {
    this.byPublisher = byPublisher;
    Map<TableKey, List<Registered>> grouped = new TreeMap<>();
    for (Registered one : byPublisher.values()) {
      grouped
          .computeIfAbsent(TableKey.of(one.registration().table()), key -> new ArrayList<>())
          .add(one);
    }
    grouped.forEach(
        (key, members) ->
            tables
                .computeIfAbsent(key.tenant(), tenant -> new TreeMap<>())
                .computeIfAbsent(key.model(), model -> new TreeMap<>())
                .put(key.blockSize(), table(members)));
  }

  private static RegisteredTable table(List<Registered> members) {
    List<TableId> ids = new ArrayList<>();
    Map<String, List<Registered>> instances = new TreeMap<>();
    List<Registered> pools = new ArrayList<>();
    Set<String> namespaces = new TreeSet<>();
    for (Registered one : members) {
      if (!ids.contains(one.registration().table())) {
        ids.add(one.registration().table());
      }
      @Nullable String namespace = one.registration().namespace();
      namespaces.add(namespace == null ? "" : namespace);
      if (one.registration().type().isPool()) {
        pools.add(one);
      } else {
        instances
            .computeIfAbsent(one.registration().publisher().instanceId(), id -> new ArrayList<>())
            .add(one);
      }
    }
    List<RegisteredInstance> rows = new ArrayList<>();
    instances.forEach((id, ranks) -> rows.add(new RegisteredInstance(id, ranksOf(ranks), ranks)));
    return new RegisteredTable(ids, rows, pools, namespaces);
  }

  private static int[] ranksOf(List<Registered> publishers) {
    return publishers.stream()
        .mapToInt(one -> one.registration().publisher().dpRank())
        .sorted()
        .distinct()
        .toArray();
  }

  /** A publisher's registration, null if there is none. */
  public @Nullable Registered get(PublisherId publisher) {
    return byPublisher.get(publisher);
  }

  /** All registrations by publisher. */
  public Collection<Registered> all() {
    return java.util.Collections.unmodifiableCollection(byPublisher.values());
  }

  public int size() {
    return byPublisher.size();
  }

  /** What is registered for (tenant, model) by block size, empty if nothing is. */
  public NavigableMap<Integer, RegisteredTable> tables(String tenant, String model) {
    Map<String, NavigableMap<Integer, RegisteredTable>> models = tables.get(tenant);
    NavigableMap<Integer, RegisteredTable> sizes = models == null ? null : models.get(model);
    return sizes == null ? java.util.Collections.emptyNavigableMap() : sizes;
  }

  /** A copy to apply changes to. */
  NavigableMap<PublisherId, Registered> copy() {
    return new TreeMap<>(byPublisher);
  }

  private record TableKey(String tenant, String model, int blockSize)
      implements Comparable<TableKey> {
    static TableKey of(TableId table) {
      return new TableKey(table.tenantId(), table.model(), table.blockSize());
    }

    @Override
    public int compareTo(TableKey other) {
      int byTenant = tenant.compareTo(other.tenant);
      int byModel = byTenant != 0 ? byTenant : model.compareTo(other.model);
      return byModel != 0 ? byModel : Integer.compare(blockSize, other.blockSize);
    }
  }
}
