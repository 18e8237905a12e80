// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

import io.kvindex.query.error.ErrorCode;
import org.jspecify.annotations.Nullable;

/**
 * The event an answer has to show: read your own writes.
 *
 * @param instanceId instance of the publisher, in the query's tenant
 * @param dpRank rank the publisher is registered with
 * @param eventId its number for the batch, unsigned
 */
public record MinEvent(String instanceId, int dpRank, long eventId) {
  /** Its name in a query. */
  static final String FIELD = "min_event";

  /** What an event id may be. */
  static final String RANGE = "0 to " + Long.toUnsignedString(-1);

  /** One whose members were read; throws where one is missing. */
  static MinEvent of(@Nullable String instance, int rank, @Nullable Long event) {
    if (instance == null || instance.isEmpty()) {
      throw ErrorCode.missing(FIELD + ".instance_id");
    } else if (event == null) {
      throw ErrorCode.missing(FIELD + ".event_id");
    }
    return new MinEvent(instance, rank, event);
  }

  @Override
  public String toString() {
    return "event " + Long.toUnsignedString(eventId) + " of " + instanceId + " rank " + dpRank;
  }
}
