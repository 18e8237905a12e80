// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.engine;

import org.jspecify.annotations.Nullable;

/**
 * What must be equal for two requests to share blocks.
 *
 * @param lora adapter name, null = base model
 * @param salt the request's cache salt, null = none
 */
record CacheContext(@Nullable String lora, @Nullable String salt) {}
