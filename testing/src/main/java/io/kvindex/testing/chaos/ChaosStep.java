// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.testing.chaos.ChaosOptions.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Something that goes wrong.
 *
 * @param kind what
 * @param target which engine, where it is about one
 * @param variant how, 0 to 3
 * @param downMs how long a process stays down
 * @param pauseMs how long to wait behind it
 */
record ChaosStep(Kind kind, int target, int variant, long downMs, long pauseMs) {

  /** What goes wrong. */
  enum Kind {
    /** An engine is killed and started again under its name and ports. */
    RESTART_ENGINE,
    /** An engine empties its cache and says so. */
    CLEAR,
    /** Live events of an engine are late by up to a second, all of them. */
    STALL,
    /** The connection between bridge and engine breaks. */
    BREAK,
    /** An engine is unregistered under load and registered again. */
    REREGISTER,
    /** An engine is found at another address: its registration is replaced. */
    REPLACE,
    /** An engine's replay endpoint says nothing for 3 to 6 s, whatever else goes wrong. */
    SILENCE_REPLAY,
    /** A record comes ahead of its turn. */
    EARLY,
    KILL_BRIDGE,
    KILL_INDEX,
    KILL_BROKER,
    /** The broker is away for half a minute, under load. */
    LONG_OUTAGE,
    /** Both bridges are killed, an engine is restarted meanwhile. */
    KILL_BRIDGES,
    /** A bridge stands still until another has taken over, then goes on. */
    FREEZE_BRIDGE
  }

  private static final int VARIANTS = 4;
  private static final int MAX_DOWN_MS = 2_500;
  private static final int MAX_PAUSE_MS = 1_200;

  /** Where no process has to come back first. */
  private static final int MAX_SHORT_PAUSE_MS = 500;

  /**
   * Some steps in random order, each kind as often as a run needs it.
   *
   * @param withLong whether there is time for those that take half a minute
   */
  static List<ChaosStep> round(Shape shape, boolean withLong, int engines, Random random) {
    List<ChaosStep> steps = new ArrayList<>();
    boolean full = shape == Shape.FULL;
    int pauseMs = full ? MAX_PAUSE_MS : MAX_SHORT_PAUSE_MS;
    add(steps, pauseMs, Kind.RESTART_ENGINE, full ? 10 : 4, engines, random);
    add(steps, pauseMs, Kind.EARLY, full ? 2 : 1, engines, random);
    add(steps, pauseMs, Kind.STALL, 1, engines, random);
    add(steps, pauseMs, Kind.CLEAR, 1, engines, random);
    add(steps, pauseMs, Kind.BREAK, 1, engines, random);
    add(steps, pauseMs, Kind.REREGISTER, 1, engines, random);
    if (full) {
      add(steps, pauseMs, Kind.REPLACE, 1, engines, random);
      add(steps, pauseMs, Kind.SILENCE_REPLAY, 1, engines, random);
      add(steps, pauseMs, Kind.KILL_BRIDGE, 2, engines, random);
      add(steps, pauseMs, Kind.KILL_INDEX, 1, engines, random);
      add(steps, pauseMs, Kind.KILL_BROKER, 1, engines, random);
      add(steps, pauseMs, Kind.KILL_BRIDGES, 1, engines, random);
    }
    Collections.shuffle(steps, random);
    if (withLong) {
      add(steps, pauseMs, Kind.FREEZE_BRIDGE, 1, engines, random);
      add(steps, pauseMs, Kind.RESTART_ENGINE, 3, engines, random);
      add(steps, pauseMs, Kind.LONG_OUTAGE, 1, engines, random);
      add(steps, pauseMs, Kind.RESTART_ENGINE, 3, engines, random);
    }
    return steps;
  }

  private static void add(
      List<ChaosStep> steps, int maxPauseMs, Kind kind, int times, int engines, Random random) {
    for (int i = 0; i < times; i++) {
      steps.add(
          new ChaosStep(
              kind,
              random.nextInt(engines),
              random.nextInt(VARIANTS),
              random.nextInt(MAX_DOWN_MS),
              random.nextInt(maxPauseMs)));
    }
  }
}
