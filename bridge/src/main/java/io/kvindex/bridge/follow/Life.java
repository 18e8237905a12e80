// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.produce.SendSession;
import io.kvindex.model.Incarnation;
import io.kvindex.model.registration.Registration;
import org.jspecify.annotations.Nullable;

/**
 * A life to follow, claimed in Kafka before.
 *
 * @param registration what to follow
 * @param incarnation generation and life, written with every record
 * @param acked what Kafka has of it, null = nothing
 * @param degraded whether events of it are known to be missing
 * @param opens whether it follows another life of the same generation, which it has to fence
 */
public record Life(
    Registration registration,
    Incarnation incarnation,
    SendSession.@Nullable Acked acked,
    boolean degraded,
    boolean opens) {}
