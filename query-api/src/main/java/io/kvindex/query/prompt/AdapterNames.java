// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.prompt;

import io.kvindex.model.event.StatedContext;
import io.kvindex.query.lookup.TableView;
import io.kvindex.query.match.InstanceSet;
import io.kvindex.query.parse.QueryBody;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** Which adapter a query means on which instance. */
public final class AdapterNames {
  private AdapterNames() {}

  /**
   * Instances by the names of the adapter on them. A name means the same everywhere; an id means
   * another adapter on each instance: those for which it means the same go together.
   *
   * @return indexes of the instances
   */
  public static Map<Set<String>, List<Integer>> groups(
      TableView view, QueryBody query, InstanceSet instances) {
    if (query.loraId() == QueryBody.NO_LORA_ID) {
      List<Integer> all = IntStream.range(0, instances.size()).boxed().toList();
      return Map.of(Set.of(query.loraName()), all);
    }
    return byId(view, query.loraId(), instances);
  }

  /** The same of a deprecated adapter id. */
  public static Map<Set<String>, List<Integer>> byId(
      TableView view, long loraId, InstanceSet instances) {
    Map<Set<String>, List<Integer>> groups = new LinkedHashMap<>();
    Map<String, String> known = view.loraNames(loraId, instances.ids());
    for (int i = 0; i < instances.size(); i++) {
      Set<String> names = new TreeSet<>(Set.of(StatedContext.nameOf(loraId)));
      String name = known.get(instances.get(i).instanceId());
      if (name != null) {
        names.add(name);
      }
      groups.computeIfAbsent(names, key -> new ArrayList<>()).add(i);
    }
    return groups;
  }
}
