// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;
import io.kvindex.model.site.Serving;
import java.util.Arrays;

/**
 * A question and whose table it is about, so that a replica that has changed over to another table
 * and one that has not never answer each other's questions from the wrong one, nor does a replica
 * of another site that got the address of one that is gone:
 *
 * <pre>
 * byte     {@value #VERSION}
 * string   Kafka's id of the cluster
 * string   application id
 *          the question
 * </pre>
 *
 * Without the cluster, where that is not known, it is version {@value #OF_ANY_CLUSTER}; the
 * question alone is about the default application.
 *
 * @param cluster empty = not known
 * @param question of version {@value WalkRequest#VERSION}
 */
record Addressed(String cluster, String application, byte[] question) {

  static final byte OF_ANY_CLUSTER = 2;
  static final byte VERSION = 3;

  byte[] encode() {
    if (cluster.isEmpty() && application.equals(Serving.DEFAULT_APPLICATION)) {
      return question;
    }
    RecordWriter out = new RecordWriter(64);
    if (cluster.isEmpty()) {
      out.writeByte(OF_ANY_CLUSTER);
    } else {
      out.writeByte(VERSION);
      out.writeString(cluster);
    }
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
    if (bytes.length == 0 || bytes[0] != OF_ANY_CLUSTER && bytes[0] != VERSION) {
      return new Addressed("", Serving.DEFAULT_APPLICATION, bytes);
    }
    RecordReader in = new RecordReader(bytes);
    String cluster = in.readByte() == VERSION ? in.readRequiredString() : "";
    return new Addressed(cluster, in.readRequiredString(), in.readRest());
  }

  /** Whether tables of a cluster may answer it; what is not known is no reason to refuse. */
  boolean isOf(String other) {
    return cluster.isEmpty() || other.isEmpty() || cluster.equals(other);
  }
}
