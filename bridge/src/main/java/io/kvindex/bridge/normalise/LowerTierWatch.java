// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.normalise;

import io.kvindex.model.Media;
import io.kvindex.model.event.KvEvent;
import io.kvindex.model.registration.LowerTier;
import io.kvindex.model.registration.Registration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Notices a publisher that stores on other media than the device and never says that anything is
 * gone from there, as connectors to a store do that somebody else evicts from. For one thread.
 */
public final class LowerTierWatch {

  /** Blocks stored without one removal from which on a publisher is suspect. */
  static final long MANY = 10_000;

  private final boolean believed;
  private long stored;
  private boolean removed;

  /** A watch of the publisher of that registration. */
  public LowerTierWatch(Registration registration) {
    believed =
        registration.options().lowerTier().kind() == LowerTier.Kind.OWN
            && registration.options().traits().expirySeconds() == 0;
  }

  /** Takes a batch in; whether it stores on a tier that is suspect by now. */
  public boolean suspects(List<KvEvent> events) {
    if (!believed || removed) {
      return false;
    }
    boolean stores = false;
    for (KvEvent event : events) {
      if (event instanceof KvEvent.Stored blocks && isLower(blocks.place().medium())) {
        stored += blocks.engineHashes().size();
        stores = true;
      } else if (event instanceof KvEvent.Removed blocks && isLower(blocks.place().medium())
          || event instanceof KvEvent.Cleared) {
        removed = true;
        return false;
      }
    }
    return stores && stored >= MANY;
  }

  private static boolean isLower(@Nullable String medium) {
    return Media.standard().tier(medium) != Media.Tier.DEVICE;
  }
}
