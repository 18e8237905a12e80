// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

/** What became of a payload: a batch of events, or the reason it is none. */
public sealed interface DecodeResult permits EngineBatch, BatchRejected {

  /** Time the engine stamped on it, microseconds since the epoch; 0 = unknown. */
  long timestampMicros();
}
