// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import java.net.URI;

/** A replica as its clients know it, and whether anything is being done to it. Thread-safe. */
final class RouterReplica {

  private final String name;
  private final URI uri;
  private volatile boolean disturbed;
  private volatile long settledNs = System.nanoTime();

  RouterReplica(String name, URI uri) {
    this.name = name;
    this.uri = uri;
  }

  String name() {
    return name;
  }

  URI uri() {
    return uri;
  }

  /** It is about to be killed, stopped or paused. */
  void disturb() {
    disturbed = true;
  }

  /** It is ready again. */
  void settle() {
    settledNs = System.nanoTime();
    disturbed = false;
  }

  /** Whether nothing was done to it since that time: what it refused it had no reason to. */
  boolean hasSurvived(long sinceNs) {
    return !disturbed && settledNs - sinceNs <= 0;
  }
}
