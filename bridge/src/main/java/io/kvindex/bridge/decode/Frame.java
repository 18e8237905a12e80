// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import java.util.Locale;

/** A ZMQ message taken apart. */
public sealed interface Frame permits Frame.Batch, Frame.End, Frame.Bad {

  /**
   * A batch of events.
   *
   * @param topic what it was published under, may be empty
   * @param sequence the publisher's number for it, unsigned
   * @param payload msgpack, not copied
   */
  @SuppressWarnings("ArrayRecordComponent") // carried from socket to decoder, never compared
  record Batch(String topic, long sequence, byte[] payload) implements Frame {}

  /** The end of a replay. */
  enum End implements Frame {
    INSTANCE
  }

  /** No message of an event publisher. */
  enum Bad implements Frame {
    /** Fewer frames than topic, sequence and payload. */
    TOO_FEW_FRAMES,
    /** A sequence that is not 8 bytes, or the end marker's with a payload. */
    BAD_SEQUENCE;

    /** Name in metrics. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
