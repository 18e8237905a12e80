// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import org.jspecify.annotations.Nullable;

/**
 * One request an engine is given, and what the index is asked for later.
 *
 * @param name for people: whose it is
 * @param tokens token ids, at most 64 full blocks of 16
 * @param lora adapter, null = base model
 * @param salt the request's cache salt, null = none
 */
record Prompt(String name, int[] tokens, @Nullable String lora, @Nullable String salt) {

  /** The same tokens in another context. */
  Prompt in(Context other) {
    return new Prompt(name, tokens, other.lora(), other.salt());
  }

  /** Its context. */
  Context context() {
    return new Context(lora, salt);
  }

  /** What must be equal for two requests to share blocks. */
  record Context(@Nullable String lora, @Nullable String salt) {
    static final Context PLAIN = new Context(null, null);
  }
}
