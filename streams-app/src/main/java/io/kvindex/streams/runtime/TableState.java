// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

/** How it stands with a partition's table in this process. */
public enum TableState {
  /** Nobody has asked for it yet, or again. */
  ABSENT,

  /** Being loaded or put away, by a thread that is no stream thread. */
  LOADING,

  /** There; a task may write it, queries may read it. */
  READY,

  /** Refused, or not to be had; loaded again after a pause. */
  FAILED
}
