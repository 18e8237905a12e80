// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What the control thread has to do next, or after a pause. Any thread adds; bounded by what is on
 * its way to Kafka, one claim and one retirement a publisher, and by who adds more than that.
 */
final class Steps {

  /** Something the control thread does. */
  interface Step {
    void run() throws InterruptedException;
  }

  private record Due(long atNs, Step step) {}

  private final Runnable onAdded;
  private final Queue<Step> inbox = new ConcurrentLinkedQueue<>();
  private final List<Due> later = new ArrayList<>();

  /**
   * @param onAdded called by whoever adds a step
   */
  Steps(Runnable onAdded) {
    this.onAdded = onAdded;
  }

  /** To be done in the control thread's next turn; any thread. */
  void add(Step step) {
    inbox.add(step);
    onAdded.run();
  }

  /** To be done after a pause; any thread. */
  void addLater(Step step, Duration pause) {
    long atNs = System.nanoTime() + pause.toNanos();
    add(() -> later.add(new Due(atNs, step)));
  }

  /** How long there is nothing to do unless something is added, that long at most. */
  Duration pause(long longestNs) {
    if (!inbox.isEmpty()) {
      return Duration.ZERO;
    }
    long now = System.nanoTime();
    long least = longestNs;
    for (Due one : later) {
      least = Math.min(least, one.atNs() - now);
    }
    return Duration.ofNanos(Math.max(0, least));
  }

  /** Does what is due. What that adds is left for the next turn: a step may fail at once. */
  void run() throws InterruptedException {
    for (int waiting = inbox.size(); waiting > 0; waiting--) {
      Step step = inbox.poll();
      if (step != null) {
        step.run();
      }
    }
    long now = System.nanoTime();
    List<Due> due = later.stream().filter(one -> now - one.atNs() >= 0).toList();
    later.removeAll(due);
    for (Due one : due) {
      one.step().run();
    }
  }
}
