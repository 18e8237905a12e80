// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.match.InstanceSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which instances of a table an answer has to name because events of a publisher were lost: its
 * own, and with a pool all it serves. Publishers of other tables name nobody, whatever they are
 * called. Thread-safe.
 */
final class DegradedRows {

  private record Worked(Set<PublisherId> publishers, List<String> instances) {}

  private static final Worked NOBODY = new Worked(Set.of(), List.of());

  /** By registered publisher, only those that stand for a row or serve one. */
  private final Map<PublisherId, Set<String>> named = new HashMap<>();

  /** Asked for with every query, so kept until the publishers change. */
  private volatile Worked last = NOBODY;

  /**
   * @param members registrations that share the table's tenant, model and block size
   */
  DegradedRows(TableId table, InstanceSet rows, List<Registered> members) {
    for (Registered one : members) {
      PublisherId publisher = one.registration().publisher();
      boolean pool = one.registration().type().isPool();
      Set<String> instances = new TreeSet<>();
      for (int i = 0; i < rows.size(); i++) {
        InstanceSet.Instance row = rows.get(i);
        boolean concerned =
            pool
                ? row.servedBy(publisher.instanceId())
                : row.instanceId().equals(publisher.instanceId());
        if (concerned) {
          instances.add(row.instanceId());
        }
      }
      if (pool && !instances.isEmpty()) {
        instances.add(publisher.instanceId());
      }
      if (!instances.isEmpty() && (!pool || one.registration().table().equals(table))) {
        named.put(publisher, instances);
      }
    }
  }

  /**
   * The instances to name, in order.
   *
   * @param degraded publishers events were lost of; the same object until they change
   * @return the same object as long as {@code degraded} is
   */
  List<String> of(Set<PublisherId> degraded) {
    Worked known = last;
    if (known.publishers() != degraded) {
      known = new Worked(degraded, instances(degraded));
      last = known;
    }
    return known.instances();
  }

  private List<String> instances(Set<PublisherId> degraded) {
    TreeSet<String> all = new TreeSet<>();
    degraded.forEach(publisher -> all.addAll(named.getOrDefault(publisher, Set.of())));
    return List.copyOf(all);
  }
}
