// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import io.kvindex.testing.drill.HitRate.Count;
import io.kvindex.testing.drill.RollingRestart.Sample;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Hit rates of consecutive seconds, and whether they ever dropped. A single second has a hundred
 * questions or two, and one that finds nothing is most of a percent: so ten seconds count together,
 * and they have dropped if they are more than a percentage point below the mean of all seconds in
 * which nothing was restarted (docs/adr/0008-hit-rate.md).
 *
 * @param samples in their order
 */
record HitRateCurve(List<Sample> samples) {

  /** Seconds that count together. */
  static final int SECONDS = 10;

  /** What is less than this below the quiet mean is no drop. */
  static final double DROP = 0.01;

  /**
   * Some consecutive seconds.
   *
   * @param first second of them
   * @param doing what was being restarted then
   * @param hits of all of them
   */
  record Window(long first, String doing, Count hits) {}

  HitRateCurve {
    samples = List.copyOf(samples);
  }

  /** All questions of the seconds in which nothing was restarted. */
  Count quiet() {
    return sum(samples.stream().filter(one -> one.doing().equals(RollingRestart.NOTHING)).toList());
  }

  /** Each ten seconds, or all there are if these are fewer. */
  List<Window> windows() {
    int length = Math.min(SECONDS, samples.size());
    return IntStream.rangeClosed(0, samples.size() - length)
        .mapToObj(from -> samples.subList(from, from + length))
        .filter(some -> !some.isEmpty())
        .map(some -> new Window(some.get(0).second(), some.get(0).doing(), sum(some)))
        .toList();
  }

  /** The one with the lowest rate, null = there is none. */
  @Nullable Window lowest() {
    return windows().stream()
        .min(Comparator.comparingDouble(one -> one.hits().share()))
        .orElse(null);
  }

  /** Whether it has dropped. */
  boolean isDrop(Window window) {
    return window.hits().share() < quiet().share() - DROP;
  }

  /**
   * Whether it is known that it never dropped: something was counted in all windows, and while
   * nothing was restarted.
   */
  boolean neverDropped() {
    List<Window> windows = windows();
    return quiet().held() > 0
        && !windows.isEmpty()
        && windows.stream().noneMatch(one -> one.hits().held() == 0 || isDrop(one));
  }

  static Count sum(List<Sample> some) {
    long held = some.stream().mapToLong(one -> one.hits().held()).sum();
    long found = some.stream().mapToLong(one -> one.hits().found()).sum();
    return new Count(held, found);
  }
}
