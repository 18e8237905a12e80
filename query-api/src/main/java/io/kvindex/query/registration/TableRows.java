// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.registration;

import io.kvindex.model.Media;
import io.kvindex.model.PublisherId;
import io.kvindex.model.TableId;
import io.kvindex.query.match.InstanceSet;
import io.kvindex.query.reply.JsonBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The rows an answer has for one table: its registered instances in order of their names. Pools are
 * no rows. Immutable, shared by all threads.
 */
public final class TableRows {
  /** Each is a chain of hashes of its own for every query that names the adapter. */
  static final int MAX_LORA_PATHS = 8;

  private final TableId table;
  private final InstanceSet instances;
  private final byte[][] names;
  private final List<Set<String>> adapters = new ArrayList<>();
  private final Set<String> namespaces = new HashSet<>();
  private final Map<String, SortedSet<String>> loraPaths = new HashMap<>();
  private final DegradedRows degraded;

  private TableRows(
      TableId table,
      InstanceSet instances,
      List<Registered> members,
      Supplier<Map<PublisherId, Long>> unconnected) {
    this.table = table;
    this.instances = instances;
    degraded = new DegradedRows(table, instances, members, unconnected);
    names = new byte[instances.size()][];
    for (int i = 0; i < names.length; i++) {
      String name = new JsonBuffer().name(instances.get(i).instanceId()).asText();
      names[i] = name.getBytes(StandardCharsets.UTF_8);
      adapters.add(adaptersOf(instances.get(i).instanceId(), members));
    }
    for (Registered one : members) {
      String namespace = one.registration().namespace();
      if (namespace != null) {
        namespaces.add(namespace);
      }
      one.registration()
          .options()
          .loraPaths()
          .forEach((lora, path) -> loraPaths.computeIfAbsent(lora, l -> new TreeSet<>()).add(path));
      loraPaths.values().stream()
          .filter(paths -> paths.size() > MAX_LORA_PATHS)
          .forEach(paths -> paths.remove(paths.last()));
    }
  }

  /**
   * The rows of registrations that share (tenant, model, block size). Normally these are one table;
   * after a race between two hash profiles they are two, and an instance then belongs to the table
   * of its lowest rank.
   *
   * @param unconnected publishers without a connection they can be trusted by
   */
  static List<TableRows> of(
      List<Registered> members, Media media, Supplier<Map<PublisherId, Long>> unconnected) {
    Map<TableId, SortedMap<String, List<Registered>>> tables = new TreeMap<>(TableRows::compare);
    Map<String, TableId> home = new TreeMap<>();
    for (Registered one : members) {
      if (one.registration().type().isPool()) {
        continue;
      }
      String id = one.registration().publisher().instanceId();
      home.putIfAbsent(id, one.registration().table());
      tables
          .computeIfAbsent(home.get(id), table -> new TreeMap<>())
          .computeIfAbsent(id, name -> new ArrayList<>())
          .add(one);
    }
    List<TableRows> rows = new ArrayList<>();
    tables.forEach(
        (table, instances) -> {
          List<InstanceSet.Instance> listed = new ArrayList<>();
          instances.forEach(
              (id, ranks) ->
                  listed.add(new InstanceSet.Instance(id, ranksOf(ranks), poolsOf(ranks))));
          rows.add(new TableRows(table, new InstanceSet(listed, media), members, unconnected));
        });
    return rows;
  }

  private static Set<String> adaptersOf(String instance, List<Registered> members) {
    Set<String> names = new HashSet<>();
    for (Registered one : members) {
      if (one.registration().publisher().instanceId().equals(instance)) {
        names.addAll(one.registration().loraNames());
      }
    }
    return names;
  }

  /** Tables of one group differ in the hash profile only. */
  private static int compare(TableId one, TableId other) {
    return one.hashProfile().label().compareTo(other.hashProfile().label());
  }

  private static List<Integer> ranksOf(List<Registered> publishers) {
    return publishers.stream()
        .map(one -> one.registration().publisher().dpRank())
        .sorted()
        .distinct()
        .toList();
  }

  private static @Nullable Set<String> poolsOf(List<Registered> publishers) {
    Set<String> pools = new HashSet<>();
    for (Registered one : publishers) {
      List<String> named = one.registration().options().pools();
      if (named == null) {
        return null;
      }
      pools.addAll(named);
    }
    return pools;
  }

  public TableId table() {
    return table;
  }

  public InstanceSet instances() {
    return instances;
  }

  /**
   * Instances whose numbers may be wrong because events of these publishers were lost, or because
   * theirs is not connected, and the pools they have it from; in order, and the same object until
   * that changes.
   */
  public List<String> degraded(Set<PublisherId> publishers) {
    return degraded.of(publishers);
  }

  /** A row's {@code "name":} as JSON bytes; not to be written to. */
  public byte[] jsonName(int instance) {
    return names[instance];
  }

  /** Whether an instance is registered for an adapter, empty = the base model. */
  public boolean hasAdapter(int instance, String lora) {
    return adapters.get(instance).contains(lora);
  }

  /** Whether a registration of this model, block size and tenant names the namespace. */
  public boolean hasNamespace(String name) {
    return namespaces.contains(name);
  }

  /**
   * Where registrations of this model, block size and tenant say an adapter is loaded from, which
   * is in the hashes of vLLM since 0.32; {@value #MAX_LORA_PATHS} at most, the first in order.
   */
  public Collection<String> loraPaths(String lora) {
    return loraPaths.getOrDefault(lora, Collections.emptySortedSet());
  }
}
