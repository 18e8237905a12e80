// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.io.IOException;

/** A prompt nobody else has, to be published and asked for. */
final class Marker {

  static final int BLOCKS = 8;
  static final int TOKENS = BLOCKS * LoadShape.BLOCK_SIZE;
  private static final long KIND = 4L << 56;

  private final long[] hashes = new long[BLOCKS];
  private final String query;

  /**
   * @param number tells markers apart
   */
  Marker(int number) {
    StringBuilder text = new StringBuilder("{\"model\":\"load\",\"block_size\":16,\"token_ids\":[");
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = Mix.of(KIND | number, i);
      for (int k = 0; k < LoadShape.BLOCK_SIZE; k++) {
        text.append(LoadShape.token(hashes[i], k)).append(',');
      }
    }
    text.setLength(text.length() - 1);
    query = text.append("]}").toString();
  }

  /** A batch that stores it, stamped with the time of now. */
  byte[] payload() {
    BatchWriter writer = new BatchWriter();
    writer.begin(System.currentTimeMillis() / 1e3, 1);
    writer.stored(
        hashes,
        0,
        hashes.length,
        true,
        0,
        LoadShape.BLOCK_SIZE,
        true,
        (block, offset) -> LoadShape.token(hashes[block], offset));
    return writer.end();
  }

  /** How much of it an instance holds, as one query says. */
  int tokensHeld(ControlClient control, int instance) throws IOException {
    return control
        .post("/query", query)
        .path("default")
        .path(LoadShape.instanceName(instance))
        .path("longest_matched")
        .asInt();
  }
}
