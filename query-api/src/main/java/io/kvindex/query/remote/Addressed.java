// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.model.site.Serving;
import java.util.Arrays;

/**
 * A question and the application whose table it is about, so that a replica that has changed over
 * to another table and one that has not never answer each other's questions from the wrong one:
 *
 * <pre>
 * byte     {@value #VERSION}
 * string   application id
 *          the question, as it goes without this where the default application is meant
 * </pre>
 *
 * Replicas of older versions have the default application's table only, and refuse this version.
 *
 * @param question of version {@value WalkRequest#VERSION}
 */
record Addressed(String application, byte[] question) {

  static final byte VERSION = 2;

  byte[] encode() {
    if (application.equals(Serving.DEFAULT_APPLICATION)) {
      return question;
    }
    RecordWriter out = new RecordWriter(64);
    out.writeByte(VERSION);
    out.writeString(application);
    byte[] address = out.toByteArray();
    byte[] all = Arrays.copyOf(address, address.length + question.length);
    System.arraycopy(question, 0, all, address.length, question.length);
    return all;
  }

  /**
   * Reads it back; any other version is a question about the default application.
   *
   * @throws io.kvindex.model.event.MalformedRecordException if it ends too early
   */
  static Addressed decode(byte[] bytes) {
    if (bytes.length == 0 || bytes[0] != VERSION) {
      return new Addressed(Serving.DEFAULT_APPLICATION, bytes);
    }
    RecordReader in = new RecordReader(bytes);
    in.readByte();
    return new Addressed(in.readRequiredString(), in.readRest());
  }
}
