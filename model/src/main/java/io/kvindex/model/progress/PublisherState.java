// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.progress;

import java.util.Locale;

/** What the follower of a publisher is doing. */
public enum PublisherState {
  /** Not heard of yet: no frame and no replay answer. */
  PENDING,
  /** Reading what the engine still has in its replay buffer. */
  REPLAYING,
  /** Live and complete as far as can be known. */
  ACTIVE,
  /** Live, but events are missing that nobody can give us. */
  DEGRADED,
  /** Its events do not fit its registration. */
  MISMATCHED,
  /** Can not be followed at all. */
  FAILED;

  /** Name in answers and metrics. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
