// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.index;

import io.kvindex.model.Incarnation;
import org.jspecify.annotations.Nullable;

/**
 * Who holds a block: one publisher's cache on one medium in one life. It has no LoRA, namespace or
 * salt, since removals do not say theirs; those are part of the lookup key.
 *
 * @param tenantId tenant of the registration
 * @param instanceId instance of the registration; for a pool the pool's own id
 * @param publisherRank rank the publisher was registered with
 * @param rank rank the blocks belong to: the batch's own when it names one, else {@code
 *     publisherRank}
 * @param medium medium exactly as sent, null if the engine named none
 * @param pool whether its blocks serve other instances instead of being a result row
 * @param backendId cache owner inside the publisher where the event names one, else null
 * @param incarnation the life that announced the blocks
 */
public record Owner(
    String tenantId,
    String instanceId,
    int publisherRank,
    int rank,
    @Nullable String medium,
    boolean pool,
    @Nullable String backendId,
    Incarnation incarnation) {}
