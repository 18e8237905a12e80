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
import java.util.function.Supplier;

/**
 * Which instances of a table an answer has to name because events of a publisher were lost or it is
 * not connected: its own, and with a pool all it serves. Publishers of other tables name nobody,
 * whatever they are called. Thread-safe.
 */
final class DegradedRows {

  /** What was worked out, and from what. */
  private record Named(
      Set<PublisherId> degraded, Map<PublisherId, Long> unconnected, List<String> instances) {}

  private static final Named NOBODY = new Named(Set.of(), Map.of(), List.of());

  /** By registered publisher, only those that stand for a row or serve one. */
  private final Map<PublisherId, Set<String>> named = new HashMap<>();

  /** Generations of those of them that have to be connected. */
  private final Map<PublisherId, Long> attached = new HashMap<>();

  private final Supplier<Map<PublisherId, Long>> unconnected;

  /** Asked for with every query, so kept until the publishers change. */
  private volatile Named last = NOBODY;

  /**
   * @param members registrations that share the table's tenant, model and block size
   * @param unconnected publishers without a connection they can be trusted by, with the generation
   *     of their registration; the same object until they change
   */
  DegradedRows(
      TableId table,
      InstanceSet rows,
      List<Registered> members,
      Supplier<Map<PublisherId, Long>> unconnected) {
    this.unconnected = unconnected;
    for (Registered one : members) {
      PublisherId publisher = one.registration().publisher();
      boolean pool = one.registration().type().isPool();
      Set<String> instances = new TreeSet<>();
      for (int i = 0; i < rows.size(); i++) {
        if (rows.get(i).gainsFrom(publisher.instanceId(), pool)) {
          instances.add(rows.get(i).instanceId());
        }
      }
      if (pool && !instances.isEmpty()) {
        instances.add(publisher.instanceId());
      }
      if (!instances.isEmpty() && (!pool || one.registration().table().equals(table))) {
        named.put(publisher, instances);
        if (!one.registration().options().detached()) {
          attached.put(publisher, one.generation());
        }
      }
    }
  }

  /**
   * The instances to name, in order.
   *
   * @param degraded publishers events were lost of; the same object until they change
   * @return the same object as long as {@code degraded} and those without a connection are
   */
  List<String> of(Set<PublisherId> degraded) {
    Named known = last;
    Map<PublisherId, Long> disconnected = unconnected.get();
    if (known.degraded() != degraded || known.unconnected() != disconnected) {
      known = new Named(degraded, disconnected, instances(degraded, disconnected));
      last = known;
    }
    return known.instances();
  }

  private List<String> instances(Set<PublisherId> degraded, Map<PublisherId, Long> disconnected) {
    TreeSet<String> all = new TreeSet<>();
    degraded.forEach(publisher -> all.addAll(named.getOrDefault(publisher, Set.of())));
    disconnected.forEach(
        (publisher, generation) -> {
          if (generation.equals(attached.get(publisher))) {
            all.addAll(named.getOrDefault(publisher, Set.of()));
          }
        });
    return List.copyOf(all);
  }
}
