// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import org.jspecify.annotations.Nullable;

/**
 * What decides which cached blocks a request can use: exactly what the engine will hash.
 *
 * @param model the base model, as it is registered with kvindex
 * @param adapter LoRA adapter, null = none
 * @param cacheSalt the request's salt, null = none
 * @param tokens token ids, unsigned
 */
record Prompt(String model, @Nullable String adapter, @Nullable String cacheSalt, int[] tokens) {}
