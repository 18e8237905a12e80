// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

/** Knows nothing of caches: engines take turns. */
final class RoundRobinPolicy implements RoutingPolicy {

  @Override
  public long[] cachedTokens(int[] tokens) {
    return new long[0];
  }

  @Override
  public boolean cacheAware() {
    return false;
  }
}
