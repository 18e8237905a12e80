// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import java.time.Duration;

/** Has a follower take small steps later, unless it was stopped. Any thread. */
@FunctionalInterface
interface Later {

  /**
   * The loop's thread takes the step, and goes on with what there is to do then.
   *
   * @param pause before it, zero = next
   */
  void run(Runnable step, Duration pause);
}
