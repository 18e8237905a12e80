// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

/**
 * One batch as it came from a publisher.
 *
 * @param topic what it was published under; empty = nothing, or not told
 * @param sequence the publisher's number of the batch, unsigned
 * @param payload undecoded; nobody writes to it
 * @param receivedMicros when this process read it, microseconds since the epoch
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; copying each payload would cost more
public record RawBatch(String topic, long sequence, byte[] payload, long receivedMicros) {}
