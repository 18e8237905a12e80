// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.http;

import io.kvindex.query.parse.QueryBody;
import io.kvindex.query.parse.QueryBodyParser;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Everything one query needs, kept from request to request. Belongs to one exchange at a time. */
final class Scratch {
  private static final int INITIAL = 64 << 10;

  /** Longest body a scratch keeps room for between queries, in bytes. */
  static final int KEPT = 1 << 20;

  final QueryBodyParser parser;
  final QueryBody query = new QueryBody();
  final QueryReply reply = new QueryReply();

  /** Holds one of the pool's permits for large bodies. */
  boolean large;

  /** Holds one of the pool's permits for large answers to other replicas. */
  boolean largeAnswer;

  private byte[] body = new byte[INITIAL];
  private int length;

  Scratch(int maxItems) {
    parser = new QueryBodyParser(maxItems);
  }

  void clear() {
    length = 0;
    large = false;
    largeAnswer = false;
    reply.clear();
    if (body.length > KEPT + QueryBodyParser.PADDING) {
      body = new byte[INITIAL];
    }
  }

  byte[] body() {
    return body;
  }

  int length() {
    return length;
  }

  /** Makes room for a body whose length was announced, so that it is copied once. */
  void expect(int bytes) {
    room(bytes);
  }

  void append(ByteBuffer chunk) {
    int more = chunk.remaining();
    room(length + more);
    chunk.get(body, length, more);
    length += more;
  }

  private void room(int bytes) {
    int wanted = bytes + QueryBodyParser.PADDING;
    if (wanted > body.length) {
      body = Arrays.copyOf(body, Math.max(wanted, 2 * body.length));
    }
  }
}
