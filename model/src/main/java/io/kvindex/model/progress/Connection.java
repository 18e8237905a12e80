// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.progress;

/**
 * Whether the event socket of a publisher has a connection.
 *
 * @param up whether it has
 * @param sinceMicros the bridge's time of the last change, microseconds since the epoch; when it
 *     began to follow the publisher if it has had none yet
 * @param proven whether it was shown, since the connection came about, that at its other end is the
 *     engine whose blocks are in Kafka, by a replay or by a batch that goes on where the last one
 *     ended, and Kafka has what it sent up to there; only while it is up
 */
public record Connection(boolean up, long sinceMicros, boolean proven) {}
