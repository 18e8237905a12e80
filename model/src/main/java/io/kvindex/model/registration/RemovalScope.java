// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.registration;

/**
 * What a removal means that the master of a store publishes. Source: Mooncake, {@code
 * mooncake-store/src/kv_event/}: until #3818 (September 2026) a master tells only that no replica
 * of an object is left, whatever medium it names; since then each removal is of one medium.
 */
public enum RemovalScope {
  /** The object is gone from every medium. */
  ALL,
  /** The object is gone from the medium the removal names. */
  MEDIUM
}
