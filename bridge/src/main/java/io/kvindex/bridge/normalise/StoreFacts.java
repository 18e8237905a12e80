// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.bridge.decode.StoreObject;
import io.kvindex.bridge.keys.ShardNumber;
import io.kvindex.model.registration.Registration;
import io.kvindex.model.registration.RemovalScope;

/** What stays the same between the batches of a store, and what they taught. For one thread. */
final class StoreFacts {

  private final Registration registration;
  private final AddressMedia media;
  private final ShardNumber shards;
  private final Learned learned;

  StoreFacts(Registration registration, Learned learned) {
    this.learned = learned;
    this.registration = registration;
    this.media = new AddressMedia(registration.options().addressTiers());
    this.shards =
        new ShardNumber(registration.options().shards(), registration.options().poolGroups());
  }

  Registration registration() {
    return registration;
  }

  AddressMedia media() {
    return media;
  }

  ShardNumber shards() {
    return shards;
  }

  NamedKeys keys() {
    return learned.names();
  }

  void stored(String object) {
    if (registration.options().removalScope() == null) {
      learned.removals().stored(object);
    }
  }

  /** Whether a removal that names that medium is of no other: as registered, else as seen. */
  boolean isOfOneMedium(String object, String medium) {
    RemovalScope scope = registration.options().removalScope();
    return scope == null
        ? learned.removals().isOfOneMedium(object, medium)
        : scope == RemovalScope.MEDIUM;
  }

  /**
   * Whether a key that tells no block, and of which nothing is remembered, may be that of a stored
   * one. Only events with addresses speak of objects by a mere name that others gave a hash to.
   */
  boolean mayHaveForgotten(StoreObject object) {
    return object.addresses() != null && !keys().isComplete();
  }
}
