// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * An engine's wall clock that somebody sets to another time, at a restart or in between, and that
 * may count in a smaller unit than seconds. Remembers which life it has stamped with which time.
 * Thread-safe.
 */
final class SetClock implements InstantSource {

  private static final long HOUR = 3_600;
  private static final long[] OFFSETS = {0, -2 * HOUR, 2 * HOUR, -30 * 24 * HOUR};
  private static final long[] PER_SECOND = {1, 1, 1, 1_000, 1_000_000};
  private static final int STAMPS_BETWEEN_JUMPS = 400;
  private static final double NANOS = 1e9;

  private final boolean jumps;
  private final Random random;
  private final Map<Double, Integer> lives = new ConcurrentHashMap<>();
  private long offset;
  private long perSecond = 1;
  private int life;

  /**
   * @param jumps whether anybody sets it
   */
  SetClock(boolean jumps, long seed) {
    this.jumps = jumps;
    this.random = new Random(seed);
  }

  /** From here on it stamps that life. */
  synchronized void begin(int number) {
    life = number;
    if (number > 0) {
      set();
      perSecond = jumps ? PER_SECOND[random.nextInt(PER_SECOND.length)] : 1;
    }
  }

  private void set() {
    offset = jumps ? OFFSETS[random.nextInt(OFFSETS.length)] : 0;
  }

  @Override
  public synchronized Instant instant() {
    if (random.nextInt(STAMPS_BETWEEN_JUMPS) == 0) {
      set();
    }
    Instant now = Instant.now().plusSeconds(offset);
    double units = (now.getEpochSecond() + now.getNano() / NANOS) * perSecond;
    long whole = (long) units;
    Instant stamp = Instant.ofEpochSecond(whole, (long) ((units - whole) * NANOS));
    lives.putIfAbsent(stamp.getEpochSecond() + stamp.getNano() / NANOS, life);
    return stamp;
  }

  /** The life that was stamped with that time, null = none. */
  @Nullable Integer lifeOf(double seconds) {
    return lives.get(seconds);
  }
}
