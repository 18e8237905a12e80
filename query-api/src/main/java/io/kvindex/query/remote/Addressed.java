// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import java.util.Arrays;
import java.util.function.Supplier;

/**
 * A question and whose tables it is about, so that a replica of another site that got the address
 * of one that is gone does not answer it:
 *
 * <pre>
 * byte     {@value #VERSION}
 * string   Kafka's id of the events topic
 *          the question
 * </pre>
 *
 * Where that is not known it is the question alone. Versions 2 to 4 named something else, and are
 * refused.
 *
 * @param log empty = not known
 * @param question a {@link WalkRequest}, or a {@link PlainMessage}
 */
record Addressed(String log, byte[] question) {

  static final byte VERSION = 5;

  byte[] encode() {
    if (log.isEmpty()) {
      return question;
    }
    RecordWriter out = new RecordWriter(64);
    out.writeByte(VERSION);
    out.writeString(log);
    byte[] address = out.toByteArray();
    byte[] all = Arrays.copyOf(address, address.length + question.length);
    System.arraycopy(question, 0, all, address.length, question.length);
    return all;
  }

  /**
   * Reads it back; any other version is a question alone.
   *
   * @throws io.kvindex.model.event.MalformedRecordException if it ends too early
   */
  static Addressed decode(byte[] bytes) {
    if (bytes.length == 0 || bytes[0] != VERSION) {
      return new Addressed("", bytes);
    }
    RecordReader in = new RecordReader(bytes);
    in.readByte();
    return new Addressed(in.readRequiredString(), in.readRest());
  }

  /** Whether tables of a log may answer it; what is not known is no reason to refuse. */
  boolean isOf(String other) {
    return log.isEmpty() || other.isEmpty() || log.equals(other);
  }

  /**
   * Carries questions about the tables of one log.
   *
   * @param log Kafka's id of the events topic, empty = not known yet
   */
  static Transport transport(Supplier<String> log, Transport wire) {
    return (address, path, body, forNanos, reply) ->
        wire.ask(address, path, new Addressed(log.get(), body).encode(), forNanos, reply);
  }
}
