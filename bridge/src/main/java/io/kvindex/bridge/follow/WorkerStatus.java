// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.model.Incarnation;
import io.kvindex.model.progress.PublisherState;
import io.kvindex.model.registration.Registration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A followed publisher at a glance.
 *
 * @param registration what is followed
 * @param incarnation generation and life
 * @param state what the follower is doing
 * @param connected whether its event socket has a connection now
 * @param lastError newest problem as text for people, null = none
 * @param clears clears the publisher announced in this life, as far as Kafka has them
 * @param lastSequence last sequence Kafka has, unsigned; null = none
 * @param lastTimeMicros the engine's time of that batch, microseconds since the epoch; 0 = unknown
 * @param oldestUnackedMicros when the oldest batch that Kafka does not have yet was read from ZMQ,
 *     microseconds since the epoch; 0 = it has all
 * @param counters frames and events by outcome since this follower started
 */
public record WorkerStatus(
    Registration registration,
    Incarnation incarnation,
    PublisherState state,
    boolean connected,
    @Nullable String lastError,
    long clears,
    @Nullable Long lastSequence,
    long lastTimeMicros,
    long oldestUnackedMicros,
    Map<String, Long> counters) {}
