// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.keys;

import org.jspecify.annotations.Nullable;

/** Reads the keys of one producer. Stateless; safe for all threads. */
interface KeyCodec {

  /**
   * Reads a key, from the right, because names of models may hold every separator.
   *
   * @param model the registered model
   * @return null if it is no key of this producer
   */
  @Nullable ObjectKey parse(String key, String model);
}
