// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads from a request what kvindex must be asked. Token ids in {@code prompt} are taken as they
 * are. Text and chat messages go through an engine's {@code POST /tokenize}, because only the
 * engine's own tokenizer and chat template lead to the blocks it caches; a gateway with much
 * traffic does that in its own process instead. Thread-safe.
 *
 * <p>Source of the fields: vLLM, entrypoints/serve/tokenize/protocol.py: the request is {@code
 * {model, prompt}} or {@code {model, messages, tools, chat_template...}} with the names they have
 * in the request to be answered, the answer {@code {count, max_model_len, tokens}}.
 */
final class PromptReader {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int[] NONE = {};

  private final HttpClient http;
  private final Duration tokenizeTimeout;
  private final @Nullable String baseModel;
  private final Set<String> adapters;

  /**
   * @param baseModel what requests for an adapter are registered under; else their own model is
   * @param adapters models of requests that are LoRA adapters
   */
  PromptReader(
      HttpClient http, Duration tokenizeTimeout, @Nullable String baseModel, Set<String> adapters) {
    this.http = http;
    this.tokenizeTimeout = tokenizeTimeout;
    this.baseModel = baseModel;
    this.adapters = Set.copyOf(adapters);
  }

  /**
   * The prompt of a request; of several prompts the first one.
   *
   * @param tokenizer engine that is asked for the tokens of a text
   * @return null where there is none or nobody tells its tokens: the engine will judge the request
   */
  @Nullable Prompt read(byte[] body, Engine tokenizer) throws InterruptedException {
    try {
      JsonNode request = JSON.readTree(body);
      int[] tokens = tokens(request, body, tokenizer);
      if (tokens.length == 0) {
        return null;
      }
      String model = request.path("model").asText("");
      boolean adapter = baseModel != null && adapters.contains(model);
      return new Prompt(
          baseModel != null && (adapter || model.isEmpty()) ? baseModel : model,
          adapter ? model : null,
          request.path("cache_salt").textValue(),
          tokens);
    } catch (IOException e) {
      return null;
    }
  }

  private int[] tokens(JsonNode request, byte[] body, Engine tokenizer)
      throws IOException, InterruptedException {
    JsonNode prompt = request.path("prompt");
    if (prompt.path(0).isArray()) {
      prompt = prompt.path(0);
    }
    if (prompt.path(0).isIntegralNumber()) {
      return ints(prompt);
    }
    if (prompt.isTextual() || request.path("messages").isArray()) {
      return tokenized(body, tokenizer);
    }
    if (prompt.path(0).isTextual() && request instanceof ObjectNode several) {
      ObjectNode first = several.deepCopy().set("prompt", prompt.path(0));
      return tokenized(JSON.writeValueAsBytes(first), tokenizer);
    }
    return NONE;
  }

  private int[] tokenized(byte[] body, Engine tokenizer) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(tokenizer.uri().resolve("/tokenize"))
            .timeout(tokenizeTimeout)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofByteArray(body))
            .build();
    HttpResponse<byte[]> response = http.send(request, BodyHandlers.ofByteArray());
    return response.statusCode() == 200
        ? ints(JSON.readTree(response.body()).path("tokens"))
        : NONE;
  }

  private static int[] ints(JsonNode array) {
    int[] tokens = new int[array.size()];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = (int) array.path(i).longValue();
    }
    return tokens;
  }
}
