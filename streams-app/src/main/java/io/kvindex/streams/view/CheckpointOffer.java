// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.view;

/**
 * A checkpoint of a partition that may be borrowed.
 *
 * @param layout of its rows
 * @param topicId the log's id in Kafka, as Kafka writes it
 * @param offset of the last record in it, -1 = nothing is there yet
 * @param since offset of the first record it was folded from without a gap
 * @param bytes about how many its files have
 * @param busy whether it can not be had now, but soon: another one is being lent, or it is just
 *     being loaded
 */
public record CheckpointOffer(
    int partition, int layout, String topicId, long offset, long since, long bytes, boolean busy) {}
