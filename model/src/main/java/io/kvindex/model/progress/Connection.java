// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.progress;

/**
 * Whether the event socket of a publisher has a connection.
 *
 * @param up whether it has
 * @param sinceMicros the bridge's time of the last change, microseconds since the epoch; when it
 *     began to follow the publisher if it has had none yet
 */
public record Connection(boolean up, long sinceMicros) {}
