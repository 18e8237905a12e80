// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.trace;

/**
 * One request of a trace. Two requests share a prefix as far as their leading hash ids are equal.
 *
 * @param timestampMs arrival since the start of the trace, milliseconds
 * @param inputLength prompt length in tokens, positive
 * @param outputLength generated tokens, 0 or more
 * @param hashIds one id for each begun 512 tokens of the prompt; kept, never to be changed
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record TraceRequest(long timestampMs, int inputLength, int outputLength, int[] hashIds) {
  /** Tokens one hash id stands for; the last id of a request may stand for fewer. */
  public static final int TOKENS_PER_ID = 512;

  public TraceRequest {
    if (inputLength < 1 || outputLength < 0 || timestampMs < 0) {
      throw new IllegalArgumentException(
          "negative or empty request: timestamp "
              + timestampMs
              + ", input_length "
              + inputLength
              + ", output_length "
              + outputLength);
    }
    long begun = (inputLength + (long) TOKENS_PER_ID - 1) / TOKENS_PER_ID;
    if (hashIds.length != begun) {
      throw new IllegalArgumentException(
          inputLength + " tokens need " + begun + " hash ids, got " + hashIds.length);
    }
  }

  /** The prompt's {@link #inputLength()} token ids, each below {@link TraceTokens#VOCABULARY}. */
  public int[] tokens(TraceTokens generator) {
    int[] tokens = new int[inputLength];
    for (int i = 0; i < hashIds.length; i++) {
      int from = i * TOKENS_PER_ID;
      generator.fill(hashIds[i], tokens, from, Math.min(inputLength, from + TOKENS_PER_ID));
    }
    return tokens;
  }
}
