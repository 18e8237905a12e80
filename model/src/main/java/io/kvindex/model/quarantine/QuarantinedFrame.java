// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.quarantine;

import io.kvindex.model.Incarnation;
import java.util.Objects;

/**
 * A batch nobody could decode, one value of the quarantine topic.
 *
 * @param incarnation life of the publisher it belongs to
 * @param sequence the publisher's number of it, unsigned
 * @param receivedMicros when it was read, microseconds since the epoch
 * @param reason why it could not be decoded
 * @param length bytes of the payload
 * @param payload the payload, empty = not kept: it holds token ids, or is too large
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record QuarantinedFrame(
    Incarnation incarnation,
    long sequence,
    long receivedMicros,
    String reason,
    int length,
    byte[] payload) {

  private static final byte[] NOT_KEPT = {};

  public QuarantinedFrame {
    Objects.requireNonNull(incarnation);
    Objects.requireNonNull(reason);
  }

  /** Whether its bytes are here. */
  public boolean isKept() {
    return payload.length > 0;
  }

  /** The same without its bytes. */
  public QuarantinedFrame withoutPayload() {
    return new QuarantinedFrame(incarnation, sequence, receivedMicros, reason, length, NOT_KEPT);
  }
}
