// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

/** A ZMQ message taken apart. */
public sealed interface Frame permits RawBatch, Frame.End, Frame.Bad {

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
  }
}
