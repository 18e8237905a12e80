// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

import io.kvindex.model.Media;
import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.PeerImport;
import io.kvindex.model.event.Place;

/**
 * Who says what a block means. An engine hash covers salt, adapter, images and parent, so one hash
 * is one block; but events of lower tiers, of connectors and of pools leave some of these out
 * (vLLM's offload events have no {@code extra_keys}), and what they say then would be another
 * block.
 */
enum Describer {
  /** The event tells all of it. */
  DEVICE,
  /** The event may leave out what the hash covers. */
  LOWER_TIER,
  /** Another indexer, which has it from an engine. */
  PEER;

  static Describer of(EventRecord record, Place place) {
    if (PeerImport.isImport(record.stream())) {
      return PEER;
    }
    boolean device =
        !record.type().isPool() && Media.standard().tier(place.medium()) == Media.Tier.DEVICE;
    return device ? DEVICE : LOWER_TIER;
  }
}
