// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.e2e;

import java.util.concurrent.Semaphore;

/** A replica as a router knows it, and whether anything is being done to it. Thread-safe. */
final class AskedReplica {

  /** One that owes so many answers is left alone: it stands still. */
  static final int MOST_UNDER_WAY = 4;

  private final Api api;
  private final Semaphore room = new Semaphore(MOST_UNDER_WAY);
  private volatile boolean disturbed;
  private volatile long settledNs = System.nanoTime();

  AskedReplica(Api api) {
    this.api = api;
  }

  Api api() {
    return api;
  }

  /** Whether it may be asked one more; {@link #end} follows. */
  boolean begin() {
    return room.tryAcquire();
  }

  void end() {
    room.release();
  }

  /** It is about to be killed or to stand still. */
  void disturb() {
    disturbed = true;
  }

  /** What is asked from now on it has no reason to refuse. */
  void settle() {
    settledNs = System.nanoTime();
    disturbed = false;
  }

  /** Whether nothing was done to it since that time. */
  boolean hasSurvived(long sinceNs) {
    return !disturbed && settledNs - sinceNs <= 0;
  }
}
