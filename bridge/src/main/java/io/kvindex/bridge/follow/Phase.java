// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

/**
 * Where the following of a publisher stands:
 *
 * <pre>
 * CONNECTING --connected--> JOINING: live batches wait, a replay brings what Kafka does not have yet
 *                              |  replay read to its end
 *                              v
 *                           DRAINING: the waiting ones, those the replay brought too are dropped
 *                              |  none left
 *                              v
 *                           LIVE --connected again, a hole, or a failed send--> JOINING
 *
 * any of the last three --the engine is another one--> CLAIMING --claim is durable--> ADOPTED --> JOINING from 0
 * </pre>
 */
enum Phase {
  CONNECTING,
  JOINING,
  DRAINING,
  LIVE,
  CLAIMING,
  ADOPTED,
  STOPPED;

  /** Whether live batches are taken as they come. */
  boolean takesLive() {
    return this == DRAINING || this == LIVE;
  }

  /** Whether one life has ended and the next one is not followed yet. */
  boolean isBetweenLives() {
    return this == CLAIMING || this == ADOPTED;
  }
}
