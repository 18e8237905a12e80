// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.lookup;

import io.kvindex.model.PublisherId;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.OwnerView;
import io.kvindex.streams.index.PrefixIndex;
import io.kvindex.streams.view.PartitionView;
import java.util.Map;
import java.util.TreeMap;

/** Counts the blocks queries can find, by publisher and medium. Stateless. */
public final class PublisherBlocks {

  /** What engines mean that name no medium. */
  private static final String UNNAMED_MEDIUM = "GPU";

  private PublisherBlocks() {}

  /** Adds those of a partition. */
  public static void add(PartitionView view, Map<PublisherId, Map<String, Long>> to) {
    view.tables().values().forEach(index -> add(index, to));
  }

  private static void add(PrefixIndex index, Map<PublisherId, Map<String, Long>> to) {
    OwnerView owners = index.owners();
    for (int slot = 0; slot < owners.slots(); slot++) {
      Owner owner = owners.owner(slot);
      if (owner != null) {
        String medium = owner.medium();
        to.computeIfAbsent(
                new PublisherId(owner.instanceId(), owner.tenantId(), owner.publisherRank()),
                publisher -> new TreeMap<>())
            .merge(medium == null ? UNNAMED_MEDIUM : medium, index.members(slot), Long::sum);
      }
    }
  }
}
