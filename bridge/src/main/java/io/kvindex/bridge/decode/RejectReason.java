// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import io.kvindex.bridge.metrics.Labelled;

/** Why a whole payload was refused. */
public enum RejectReason implements Labelled {
  /** A byte that starts no msgpack value. */
  NOT_MSGPACK,
  /** The payload ends before the value it announces. */
  TRUNCATED,
  /** Bytes follow the batch. */
  TRAILING_BYTES,
  /** Values nested deeper than {@value MsgPackCursor#MAX_DEPTH}. */
  TOO_DEEP,
  /** Neither an array of time and events nor a map with both. */
  NOT_A_BATCH,
  /** A data-parallel rank that is no number from 0 up: its blocks would go to a wrong rank. */
  BAD_RANK,

  /** Not of the payload's making: a decoder failed at it. */
  DECODER_FAILED;
}
