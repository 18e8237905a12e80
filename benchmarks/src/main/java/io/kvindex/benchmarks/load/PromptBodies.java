// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Every request of a load, as bytes ready to send: a head per prompt, the shared stem's tokens, the
 * tail's. Direct and shared between connections, which take duplicates.
 */
final class PromptBodies {
  private static final byte[] OPENING =
      ascii("{\"model\":\"load\",\"block_size\":16,\"token_ids\":[");
  private static final byte[] CLOSING = ascii("]}");

  private final LoadShape shape;
  private final ByteBuffer[] heads;
  private final ByteBuffer[] stems;
  private final ByteBuffer[] tails;

  PromptBodies(LoadShape shape, String host) {
    this.shape = shape;
    stems = new ByteBuffer[shape.stems()];
    for (int s = 0; s < stems.length; s++) {
      stems[s] = stem(s);
    }
    heads = new ByteBuffer[shape.prompts()];
    tails = new ByteBuffer[shape.prompts()];
    for (int p = 0; p < heads.length; p++) {
      tails[p] = tail(p);
      int length = stems[shape.stemOf(p)].capacity() + tails[p].capacity();
      heads[p] =
          direct(
              ascii(
                  "POST /query HTTP/1.1\r\nHost: "
                      + host
                      + "\r\nContent-Type: application/json\r\nContent-Length: "
                      + length
                      + "\r\n\r\n"));
    }
  }

  /** The parts of a prompt's request, from their beginning. */
  void fill(int prompt, ByteBuffer[] parts) {
    parts[0] = heads[prompt].duplicate();
    parts[1] = stems[shape.stemOf(prompt)].duplicate();
    parts[2] = tails[prompt].duplicate();
  }

  /** Opening and the stem's tokens, each with a comma behind it. */
  private ByteBuffer stem(int stem) {
    StringBuilder text = new StringBuilder(new String(OPENING, StandardCharsets.US_ASCII));
    for (int block = 0; block < shape.stemBlocks(); block++) {
      append(text, shape.stemHash(stem, block));
    }
    return direct(ascii(text.toString()));
  }

  private ByteBuffer tail(int prompt) {
    StringBuilder text = new StringBuilder();
    for (int block = 0; block < shape.tailBlocks(); block++) {
      append(text, shape.tailHash(prompt, block));
    }
    text.setLength(text.length() - 1); // the last comma
    return direct(ascii(text.append(new String(CLOSING, StandardCharsets.US_ASCII)).toString()));
  }

  private static void append(StringBuilder text, long hash) {
    for (int k = 0; k < LoadShape.BLOCK_SIZE; k++) {
      text.append(LoadShape.token(hash, k)).append(',');
    }
  }

  /** A prompt's request body as text, for the check before a load. */
  String body(int prompt) {
    return StandardCharsets.US_ASCII.decode(stems[shape.stemOf(prompt)].duplicate()).toString()
        + StandardCharsets.US_ASCII.decode(tails[prompt].duplicate());
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static ByteBuffer direct(byte[] bytes) {
    return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip().asReadOnlyBuffer();
  }
}
