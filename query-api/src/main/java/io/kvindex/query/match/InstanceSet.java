// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.match;

import io.kvindex.model.Media;
import io.kvindex.streams.index.OwnerView;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The instances an answer lists, in its order. Immutable; make a new one when registrations change
 * and keep it until then, since it also keeps what was worked out for the owners last seen.
 */
public final class InstanceSet {

  /**
   * One registered instance.
   *
   * @param instanceId as registered
   * @param ranks its registered ranks
   * @param pools instance ids of the pools that serve it, null for all, empty for none
   */
  public record Instance(String instanceId, List<Integer> ranks, @Nullable Set<String> pools) {

    public Instance {
      ranks = List.copyOf(ranks);
      pools = pools == null ? null : Set.copyOf(pools);
    }

    /** Whether blocks of that pool count for it. */
    public boolean servedBy(String pool) {
      return pools == null || pools.contains(pool);
    }

    /** Whether blocks of an instance, or of a pool, count for it. */
    public boolean gainsFrom(String instance, boolean pool) {
      return pool ? servedBy(instance) : instanceId.equals(instance);
    }
  }

  /** No instances. */
  public static final InstanceSet EMPTY = new InstanceSet(List.of(), Media.standard());

  private final List<Instance> instances;
  private final Map<String, Integer> indexes = new HashMap<>();
  private final Media media;
  private volatile @Nullable MatchPlan lastPlan;
  private volatile @Nullable TierPlan lastTiers;

  /**
   * @param instances in the order of the answer, each id once
   * @param media how owners' media are counted
   */
  public InstanceSet(List<Instance> instances, Media media) {
    this.instances = List.copyOf(instances);
    this.media = media;
    for (Instance one : this.instances) {
      if (indexes.put(one.instanceId(), indexes.size()) != null) {
        throw new IllegalArgumentException("an instance is listed twice");
      }
    }
  }

  /** How many instances. */
  public int size() {
    return instances.size();
  }

  /** The instance at an index of the answer. */
  public Instance get(int index) {
    return instances.get(index);
  }

  /** Index of an instance, -1 if there is none of that name. */
  public int indexOf(String instanceId) {
    return indexes.getOrDefault(instanceId, -1);
  }

  /** Ids of all instances, in their order. */
  public List<String> ids() {
    return instances.stream().map(Instance::instanceId).toList();
  }

  List<Instance> all() {
    return instances;
  }

  Media media() {
    return media;
  }

  /** What each owner of the view counts for; worked out once per view, shared by all threads. */
  MatchPlan planFor(OwnerView owners) {
    MatchPlan plan = lastPlan;
    if (plan == null || plan.owners() != owners) {
      plan = MatchPlan.of(this, owners);
      lastPlan = plan;
    }
    return plan;
  }

  /** Which owners carry whom through which tier; kept like the plan. */
  TierPlan tiersFor(OwnerView owners) {
    TierPlan tiers = lastTiers;
    if (tiers == null || tiers.owners() != owners) {
      tiers = TierPlan.of(this, owners);
      lastTiers = tiers;
    }
    return tiers;
  }
}
