// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.quarantine;

import io.kvindex.model.Incarnation;
import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;

/**
 * Binary form of {@link QuarantinedFrame}, version {@value #VERSION}:
 *
 * <pre>
 * version:1 | generation life clears (zigzag varints) | sequence varint | received zigzag varint
 * | reason string | length varint | flags:1 (1 = has payload) | payload to the end
 * </pre>
 *
 * Strings as in {@link io.kvindex.model.event.EventRecordCodec}. Stateless; safe for all threads.
 */
public final class QuarantineCodec {

  /** Newest version written; older ones stay readable. */
  public static final byte VERSION = 1;

  private static final int HAS_PAYLOAD = 1;
  private static final int OVERHEAD_BYTES = 96;

  private QuarantineCodec() {}

  /** The bytes to send. */
  public static byte[] encode(QuarantinedFrame frame) {
    byte[] payload = frame.payload();
    RecordWriter out = new RecordWriter(OVERHEAD_BYTES + payload.length);
    out.writeByte(VERSION);
    out.writeZigZag(frame.incarnation().generation());
    out.writeZigZag(frame.incarnation().life());
    out.writeZigZag(frame.incarnation().clears());
    out.writeVarint(frame.sequence());
    out.writeZigZag(frame.receivedMicros());
    out.writeString(frame.reason());
    out.writeVarint(frame.length());
    out.writeByte(frame.isKept() ? HAS_PAYLOAD : 0);
    out.writeBytes(payload);
    return out.toByteArray();
  }

  /**
   * Reads a frame back.
   *
   * @throws MalformedRecordException if the bytes are none, are cut short, or have a newer version
   */
  public static QuarantinedFrame decode(byte[] bytes) {
    RecordReader in = new RecordReader(bytes);
    int version = in.readByte();
    if (version != VERSION) {
      throw new MalformedRecordException(
          "quarantine record version " + version + " is not known here");
    }
    Incarnation life = new Incarnation(in.readZigZag(), in.readZigZag(), in.readZigZag());
    long sequence = in.readVarint();
    long received = in.readZigZag();
    String reason = in.readRequiredString();
    int length = in.readInt();
    boolean kept = in.readByte() == HAS_PAYLOAD;
    byte[] rest = in.readRest();
    if (rest.length != (kept ? length : 0)) {
      throw new MalformedRecordException("quarantine record with " + rest.length + " bytes");
    }
    return new QuarantinedFrame(life, sequence, received, reason, length, rest);
  }
}
