// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Which lives of an engine an answer may show. A former one may not be shown any more once an
 * answer has shown a block of a later one. Nor once a batch is visible in its table, which has one
 * order, that was sent some time after the first of a later life was passed on: {@link #SHORT_NS}
 * later and by way of the same bridge, if nothing has been done to anything on that way since
 * before that first one; else {@link #LONG_NS}, if nothing was done to our processes on it for as
 * long. For the prober's thread.
 */
final class LifeVisibility {

  /** A replay the engine's death cut off takes the bridge 3 s to give up; live events wait. */
  private static final long SHORT_NS = TimeUnit.SECONDS.toNanos(5);

  /** Takes a member of the bridges' group that was killed 6 s to be missed, and joining 10 s. */
  private static final long LONG_NS = TimeUnit.SECONDS.toNanos(20);

  private final Paths paths;
  private final List<ChaosEngine> engines;

  /** When the newest batch was sent that is visible for certain, by tenant. */
  private final Map<String, Long> fresh = new HashMap<>();

  /** The same by tenant and bridge. */
  private final Map<String, Long> freshByBridge = new HashMap<>();

  LifeVisibility(Paths paths, List<ChaosEngine> engines) {
    this.paths = paths;
    this.engines = engines;
  }

  /** Takes note of what was visible before answers were asked for. */
  void note(Map<String, Long> visible) {
    for (ChaosEngine engine : engines) {
      int now = engine.lives().size() - 1;
      if (oldest(engine) == now) {
        long sent = engine.lives().get(now).sentNs(visible.getOrDefault(engine.name(), -1L));
        if (sent != 0) {
          fresh.merge(engine.tenant(), sent, Math::max);
          freshByBridge.merge(way(engine), sent, Math::max);
        }
      }
    }
  }

  private String way(ChaosEngine engine) {
    return engine.tenant() + " by " + paths.owner(engine);
  }

  /** The oldest life of an engine that an answer asked for from now on may show. */
  int oldest(ChaosEngine engine) {
    List<EngineLife> lives = engine.lives();
    for (int i = lives.size() - 1; i > 0; i--) {
      EngineLife life = lives.get(i);
      long announced = life.announcedNs();
      if (life.isSeen() || announced != 0 && hasHadToBeTaken(engine, announced)) {
        return i;
      }
    }
    return 0;
  }

  private boolean hasHadToBeTaken(ChaosEngine engine, long announced) {
    if (fresh.getOrDefault(engine.tenant(), announced) - announced > LONG_NS
        && System.nanoTime() - paths.quietSinceNs(engine) > LONG_NS) {
      return true;
    }
    return paths.owner(engine) != null
        && paths.lookedNs() - announced > SHORT_NS
        && freshByBridge.getOrDefault(way(engine), announced) - announced > SHORT_NS
        && announced - paths.settledSinceNs(engine) > 0;
  }
}
