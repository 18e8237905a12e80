// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.fold;

/** What becomes of a record, by its place in its stream. */
public enum Verdict {
  /** Its turn. */
  APPLY,
  /** Applied before, or never to be: its turn has passed. */
  DUPLICATE,
  /** Sent by a former life of the publisher. */
  STALE_INCARNATION,
  /** Its predecessor has not come yet. */
  HOLD
}
