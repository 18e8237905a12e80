// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.remote;

import io.kvindex.model.event.RecordReader;
import io.kvindex.model.event.RecordWriter;

/**
 * Which application's table a replica answers queries from: byte version, string application id.
 */
record ServingAnswer(String application) {

  byte[] encode() {
    RecordWriter out = new RecordWriter(64);
    out.writeByte(WalkAnswer.VERSION);
    out.writeString(application);
    return out.toByteArray();
  }

  /**
   * Reads it back.
   *
   * @throws io.kvindex.model.event.MalformedRecordException if it is none
   */
  static ServingAnswer decode(byte[] bytes) {
    RecordReader in = new RecordReader(bytes);
    WalkAnswer.requireVersion(in);
    String application = in.readRequiredString();
    in.requireEnd();
    return new ServingAnswer(application);
  }
}
