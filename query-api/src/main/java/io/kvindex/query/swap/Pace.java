// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.swap;

import java.time.Duration;

/**
 * How fast a replica changes over.
 *
 * @param look between two looks at a table that is not whole yet, and at who needs the former one
 * @param overlap how long both tables have to show an event before and behind the change; longer
 *     than a query takes
 * @param complain between two complaints about the same thing
 * @param silence how long a replica that is not in a table's group any more may be silent before it
 *     counts as gone
 * @param close longest wait for the step being done when it is closed
 */
record Pace(Duration look, Duration overlap, Duration complain, Duration silence, Duration close) {

  static final Pace DEFAULT =
      new Pace(
          Duration.ofMillis(500),
          Duration.ofSeconds(2),
          Duration.ofMinutes(1),
          Duration.ofMinutes(5),
          Duration.ofSeconds(20));
}
