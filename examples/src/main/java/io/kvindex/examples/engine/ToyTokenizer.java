// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.engine;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;

/** Makes a token of each word. Equal texts have equal tokens, which is all that is needed here. */
final class ToyTokenizer {

  private static final int VOCABULARY = 1 << 17;

  private ToyTokenizer() {}

  /** The tokens of a request's {@code prompt}, text or token ids, or of its {@code messages}. */
  static int[] tokens(JsonNode request) {
    JsonNode prompt = request.path("prompt");
    if (prompt.isTextual()) {
      return words(prompt.asText()).toArray();
    }
    if (prompt.isArray()) {
      return IntStream.range(0, prompt.size()).map(i -> (int) prompt.path(i).longValue()).toArray();
    }
    return StreamSupport.stream(request.path("messages").spliterator(), false)
        .flatMapToInt(
            message ->
                words(message.path("role").asText() + ": " + message.path("content").asText()))
        .toArray();
  }

  private static IntStream words(String text) {
    return Arrays.stream(text.trim().split("\\s+"))
        .mapToInt(word -> word.hashCode() & (VOCABULARY - 1));
  }
}
