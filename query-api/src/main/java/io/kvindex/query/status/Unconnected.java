// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.status;

import io.kvindex.model.PublisherId;
import io.kvindex.model.progress.BridgeProgress;
import java.util.HashMap;
import java.util.Map;

/**
 * Publishers whose blocks nobody stands for at the moment: their engine is not connected, or not
 * yet shown to be the one that announced them. One that never announced anything is none of them.
 * Written by one thread; {@link #now} may be read by any.
 */
final class Unconnected {

  /** The registration under which a publisher has announced something, by its generation. */
  private final Map<PublisherId, Long> spoke = new HashMap<>();

  private final Map<PublisherId, Long> apart = new HashMap<>();
  private volatile Map<PublisherId, Long> now = Map.of();

  /** A bridge said that. */
  void note(BridgeProgress said) {
    PublisherId publisher = said.publisher();
    if (said.lastSequence() != null) {
      spoke.put(publisher, said.generation());
    }
    if (said.isProven() || !Long.valueOf(said.generation()).equals(spoke.get(publisher))) {
      apart.remove(publisher);
    } else {
      apart.put(publisher, said.generation());
    }
  }

  /** It is followed no more. */
  void remove(PublisherId publisher) {
    spoke.remove(publisher);
    apart.remove(publisher);
  }

  /** Makes visible what was noted. */
  void publish() {
    if (!apart.equals(now)) {
      now = Map.copyOf(apart);
    }
  }

  /** Those publishers, with the generation of their registration; the same until they change. */
  Map<PublisherId, Long> now() {
    return now;
  }
}
