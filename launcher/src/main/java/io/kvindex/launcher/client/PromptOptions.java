// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.model.PublisherId;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The prompt a command asks about, and how the answer is shown. */
public final class PromptOptions {

  @Option(names = "--model", required = true, paramLabel = "NAME", description = "Model name.")
  private String model;

  @Option(
      names = "--block-size",
      paramLabel = "TOKENS",
      description = "Block size (default: the only one registered for the model).")
  private Integer blockSize;

  @Option(
      names = "--tenant",
      paramLabel = "ID",
      description = "Tenant (default: ${DEFAULT-VALUE}).",
      defaultValue = PublisherId.DEFAULT_TENANT)
  private String tenant;

  @Option(
      names = "--lora",
      paramLabel = "NAME",
      description = "LoRA adapter (default: base model).")
  private String lora;

  @Option(
      names = "--salt",
      paramLabel = "SALT",
      description = "cache_salt of the request (default: none).")
  private String salt;

  @Option(
      names = "--instance",
      paramLabel = "ID",
      description = "Only that instance (default: all).")
  private String instance;

  @ArgGroup(multiplicity = "1")
  private Prompt prompt;

  @Option(names = "--json", description = "Print the answer as the server words it.")
  private boolean json;

  /** Where the token ids come from. */
  static final class Prompt {
    @Option(
        names = "--tokens",
        split = ",",
        paramLabel = "ID",
        description = "Token ids of the prompt, separated by commas.")
    private List<Long> tokens;

    @Option(
        names = "--tokens-file",
        paramLabel = "FILE",
        description = "File with the token ids, separated by commas or white space.")
    private Path file;

    List<Long> read() throws IOException {
      if (file == null) {
        return tokens;
      }
      List<Long> ids = new ArrayList<>();
      for (String word : Files.readString(file).split("[\\s,\\[\\]]+", -1)) {
        if (!word.isEmpty()) {
          ids.add(id(word));
        }
      }
      return ids;
    }

    private Long id(String word) {
      try {
        return Long.valueOf(word);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(
            "--tokens-file " + file + " must hold token ids, got `" + word + "`", e);
      }
    }
  }

  /** The tenant asked about. */
  public String tenant() {
    return tenant;
  }

  /** The model asked about. */
  public String model() {
    return model;
  }

  /** The block size, 0 = none named. */
  public int blockSize() {
    return blockSize == null ? 0 : blockSize;
  }

  /** The body of {@code POST /query}. */
  public ObjectNode body() throws IOException {
    ObjectNode body = ApiClient.JSON.createObjectNode();
    body.put("model", model).put("tenant_id", tenant);
    if (blockSize != null) {
      body.put("block_size", blockSize);
    }
    if (lora != null) {
      body.put("lora_name", lora);
    }
    if (salt != null) {
      body.put("cache_salt", salt);
    }
    if (instance != null) {
      body.put("instance_id", instance);
    }
    ArrayNode ids = body.putArray("token_ids");
    prompt.read().forEach(ids::add);
    return body;
  }

  /**
   * Shows the answer to {@link #body}, best instance first.
   *
   * @param tokens of the prompt
   */
  public void print(JsonNode answer, int tokens, PrintWriter out) throws IOException {
    if (json) {
      out.println(ApiClient.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(answer));
    } else {
      table(answer.path(tenant), tokens, out);
    }
  }

  private static void table(JsonNode instances, int tokens, PrintWriter out) {
    if (instances.isEmpty()) {
      out.println("no instance is registered for this tenant, model and block size");
      return;
    }
    out.printf("%-24s %10s %6s  %s%n", "instance", "tokens", "share", "where");
    List<Map.Entry<String, JsonNode>> rows = new ArrayList<>(instances.properties());
    rows.sort(Comparator.comparingLong(row -> -row.getValue().path("longest_matched").asLong()));
    for (Map.Entry<String, JsonNode> row : rows) {
      long matched = row.getValue().path("longest_matched").asLong();
      double share = tokens == 0 ? 0 : 100.0 * matched / tokens;
      out.printf("%-24s %10d %5.1f%%  %s%n", row.getKey(), matched, share, where(row.getValue()));
    }
  }

  private static String where(JsonNode row) {
    StringBuilder text = new StringBuilder();
    for (Map.Entry<String, JsonNode> member : row.properties()) {
      if (member.getValue().isNumber() && !member.getKey().equals("longest_matched")) {
        text.append(member.getKey()).append('=').append(member.getValue().asLong()).append(' ');
      }
    }
    return text.append("ranks=").append(row.path("DP")).toString();
  }
}
