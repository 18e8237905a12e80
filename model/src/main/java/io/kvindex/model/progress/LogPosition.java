// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.progress;

/**
 * What a bridge that takes a publisher over needs to know the last acknowledged batch exactly: the
 * progress it finds may be older than the log.
 *
 * @param next offset in the events topic's partition of the publisher's table, at or before the
 *     first record of the same life that the progress does not tell of
 * @param fingerprint XXH3 of the payload of the last batch the progress tells of, 0 = unknown
 */
public record LogPosition(long next, long fingerprint) {}
