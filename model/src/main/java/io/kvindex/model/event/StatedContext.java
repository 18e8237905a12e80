// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import org.jspecify.annotations.Nullable;

/**
 * Adapter, namespace and salt as a stored event states them, the registration's defaults filled in.
 * It holds for blocks at the start of a prompt; a block with a known parent lives in its parent's
 * context, because engines state the salt with the first block only.
 *
 * @param loraName adapter, null = base model
 * @param loraId the engine's number for the adapter where it sends one, else null
 * @param namespace deployment salt of event or registration, null = none
 * @param salt request salt, null = none stated
 */
public record StatedContext(
    @Nullable String loraName,
    @Nullable Long loraId,
    @Nullable String namespace,
    @Nullable String salt) {

  /** The plain context: base model, no namespace, no salt. */
  public static final StatedContext NONE = new StatedContext(null, null, null, null);

  /**
   * Stand-in for the name of an adapter an event knows by number only.
   *
   * @param loraId the engine's number for it
   */
  public static String nameOf(long loraId) {
    return "id:" + loraId;
  }
}
