// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import org.jspecify.annotations.Nullable;

/**
 * What every event of the standard (RFC 1527, Mooncake's KV Events API) says besides what happened.
 * Members are as sent, null or -1 = not stated.
 *
 * @param eventId its number in its stream, from 0 up
 * @param model model name
 * @param blockSize tokens a block
 * @param additionalSalt deployment salt
 * @param loraName adapter, null = base model
 * @param tenantId tenant
 * @param backendId who owns the blocks
 * @param medium where they are
 * @param dpRank data-parallel rank
 * @param baseBlockIdx depth of the event's first block in its prompt, from 0
 */
public record Envelope(
    long eventId,
    @Nullable String model,
    int blockSize,
    @Nullable String additionalSalt,
    @Nullable String loraName,
    @Nullable String tenantId,
    @Nullable String backendId,
    @Nullable String medium,
    int dpRank,
    long baseBlockIdx) {}
