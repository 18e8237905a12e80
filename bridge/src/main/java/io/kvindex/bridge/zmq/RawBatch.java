// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.zmq;

/**
 * One batch as it came from a publisher.
 *
 * @param sequence the publisher's number of the batch, unsigned
 * @param payload undecoded; nobody writes to it
 * @param receivedMicros when this process read it, microseconds since the epoch
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; copying each payload would cost more
public record RawBatch(long sequence, byte[] payload, long receivedMicros) {}
