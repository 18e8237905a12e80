// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.view;

import org.jspecify.annotations.Nullable;

/**
 * One context of a table that blocks were announced in.
 *
 * @param hash what is folded into the lookup keys
 * @param loraName adapter, null = base model
 * @param namespace deployment salt, null = none
 * @param salt request salt, null = none
 */
public record ContextNames(
    long hash, @Nullable String loraName, @Nullable String namespace, @Nullable String salt) {}
