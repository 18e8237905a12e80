// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.event;

import org.jspecify.annotations.Nullable;

/**
 * Which of a publisher's caches an event speaks of.
 *
 * @param medium concrete medium as sent ({@code GPU}, {@code CPU_PINNED}...), null if the event
 *     named none
 * @param rank data-parallel rank of the blocks: the batch's, else the registered one
 * @param group attention group, 0 if the engine has only one
 * @param backendId cache owner inside the publisher where the event names one, else null
 */
public record Place(@Nullable String medium, int rank, int group, @Nullable String backendId) {}
