// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.decode;

import net.openhft.hashing.LongHashFunction;
import org.jspecify.annotations.Nullable;

/**
 * One batch as it came from a publisher. What its payload says is found out once, when it is asked
 * for. For one thread at a time.
 */
public final class RawBatch implements Frame {

  private static final LongHashFunction FINGERPRINT = LongHashFunction.xx3();

  private final String topic;
  private final long sequence;
  private final byte[] payload;
  private final long receivedMicros;
  private long fingerprint;
  private @Nullable DecodeResult decoded;

  /**
   * @param topic what it was published under; empty = nothing, or not told
   * @param sequence the publisher's number of the batch, unsigned
   * @param payload undecoded; nobody writes to it, and it is not copied
   * @param receivedMicros when this process read it, microseconds since the epoch
   */
  public RawBatch(String topic, long sequence, byte[] payload, long receivedMicros) {
    this.topic = topic;
    this.sequence = sequence;
    this.payload = payload;
    this.receivedMicros = receivedMicros;
  }

  /** What it was published under; empty = nothing, or not told. */
  public String topic() {
    return topic;
  }

  /** The publisher's number of the batch, unsigned. */
  public long sequence() {
    return sequence;
  }

  /** Undecoded; nobody writes to it. */
  public byte[] payload() {
    return payload;
  }

  /** When this process read it, microseconds since the epoch. */
  public long receivedMicros() {
    return receivedMicros;
  }

  /** What tells its payload from others, 0 = unknown. */
  public long fingerprint() {
    if (fingerprint == 0) {
      fingerprint = FINGERPRINT.hashBytes(payload);
    }
    return fingerprint;
  }

  /**
   * What its payload holds.
   *
   * @param decoder that of its publisher
   * @param blockSize see {@link EngineDecoder#decode(byte[], int)}
   */
  public DecodeResult decoded(EngineDecoder decoder, int blockSize) {
    if (decoded == null) {
      decoded = decoder.decode(payload, blockSize);
    }
    return decoded;
  }
}
