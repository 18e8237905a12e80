// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import java.io.IOException;

/** Says how much of a prompt each engine of a fleet is believed to hold. */
interface RoutingPolicy {

  /**
   * Cached tokens by engine.
   *
   * @param tokens the prompt
   * @return one count per engine of the fleet, in its order
   */
  long[] cachedTokens(int[] tokens) throws IOException, InterruptedException;

  /** Whether engines are chosen by what they hold; else they take turns. */
  default boolean cacheAware() {
    return true;
  }
}
