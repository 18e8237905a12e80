// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.conductor;

import io.kvindex.model.hash.ContextHash;
import java.util.Collection;

/** Which contexts a query's names mean. */
final class Contexts {
  private static final long[] PLAIN = {ContextHash.NONE};

  private Contexts() {}

  /**
   * One adapter: {@code cache_salt} X is the namespace X, and the request salt X of sources that
   * have no namespace.
   *
   * @param lora adapter, empty = base model
   * @param salt {@code cache_salt}, empty = none
   */
  static long[] of(String lora, String salt) {
    if (salt.isEmpty()) {
      return lora.isEmpty() ? PLAIN : new long[] {ContextHash.of(lora, null, null)};
    }
    return new long[] {ContextHash.of(lora, salt, null), ContextHash.of(lora, null, salt)};
  }

  /** As {@link #of(String, String)} for several names of the same adapter. */
  static long[] ofAll(Collection<String> loras, String salt) {
    return loras.stream().flatMapToLong(lora -> java.util.Arrays.stream(of(lora, salt))).toArray();
  }
}
