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
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Asks which instance holds how much of a prompt. */
@Command(
    name = "query",
    description = "Asks which instance holds how much of a prompt, best one first.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class QueryCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private ApiClient api;

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

  @ArgGroup(multiplicity = "1")
  private Prompt prompt;

  @Option(names = "--json", description = "Print the server's answer as it is.")
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
          ids.add(Long.valueOf(word));
        }
      }
      return ids;
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<Long> tokens = prompt.read();
    JsonNode answer = api.post("/query", body(tokens));
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(ApiClient.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(answer));
    } else {
      print(answer.path(tenant), tokens.size(), out);
    }
    return 0;
  }

  private ObjectNode body(List<Long> tokens) {
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
    ArrayNode ids = body.putArray("token_ids");
    tokens.forEach(ids::add);
    return body;
  }

  private static void print(JsonNode instances, int tokens, PrintWriter out) {
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
