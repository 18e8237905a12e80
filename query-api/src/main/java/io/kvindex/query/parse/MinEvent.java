// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.parse;

/**
 * The event an answer has to show: read your own writes.
 *
 * @param instanceId instance of the publisher, in the query's tenant
 * @param dpRank rank the publisher is registered with
 * @param eventId its number for the batch, unsigned
 */
public record MinEvent(String instanceId, int dpRank, long eventId) {

  @Override
  public String toString() {
    return "event " + Long.toUnsignedString(eventId) + " of " + instanceId + " rank " + dpRank;
  }
}
