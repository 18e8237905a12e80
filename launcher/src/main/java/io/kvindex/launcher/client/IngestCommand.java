// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.terminal.Bars;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Brings events that an engine hands out as JSON into the index: plays a publisher with a replay,
 * which the bridge follows as it follows any engine, so that order, lives and repeats are judged in
 * one place.
 */
@Command(
    name = "ingest",
    description = {
      "Brings events of TensorRT-LLM's get_kv_cache_events() into the index: JSON objects, one a line, or arrays.",
      "",
      "Registers the instance at a port of its own, which the bridge must reach, and stays until all is in answers.",
      "The blocks stay after that; ingesting again replaces them, `kvindex unregister` removes them.",
      "Exit code: 0 all of it is in the index; 1 something is not: a line is no JSON or says something of its blocks that",
      "cannot be read (reading ends there), an event_id came twice (it is left out), or events did not become visible.",
      "Standard error names the line. `kvindex unregister` removes what came before it.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class IngestCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private ApiClient api;
  @Mixin private PublisherOptions publisher;

  @Option(
      names = "--format",
      required = true,
      paramLabel = "FORMAT",
      description = "trtllm-json; ranks come from attention_dp_rank.")
  private String format;

  @Option(names = "--model", required = true, paramLabel = "NAME", description = "Model name.")
  private String model;

  @Option(
      names = "--block-size",
      required = true,
      paramLabel = "TOKENS",
      description = "tokens_per_block of the engine.")
  private int blockSize;

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      description = "Address of this machine the bridge connects to (default: ${DEFAULT-VALUE}).",
      defaultValue = "127.0.0.1")
  private String host;

  @Option(
      names = "--patience",
      paramLabel = "SECONDS",
      description = "Longest wait for events to become visible (default: ${DEFAULT-VALUE}).",
      defaultValue = "60")
  private int patienceSeconds;

  @Parameters(paramLabel = "FILE", description = "File to read, - for standard input.")
  private String file;

  /** Repeated events named one by one; the rest is counted. */
  private static final int MAX_NAMED = 20;

  private int repeated;
  private final Map<String, Long> counts = TrtllmTranslator.newCounts();
  private final Map<Integer, IngestedRank> ranks = new TreeMap<>();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (!format.equals("trtllm-json")) {
      throw new IOException("unknown format " + format + ", known: trtllm-json");
    }
    String problem;
    try (InputStream in = open();
        ProgressBar bar = progressBar()) {
      problem = readAll(in, bar);
      for (IngestedRank rank : ranks.values()) {
        rank.awaitVisible();
      }
    } finally {
      ranks.values().forEach(IngestedRank::close);
    }
    counts.forEach((outcome, count) -> spec.commandLine().getOut().println(outcome + ": " + count));
    if (problem != null) {
      spec.commandLine().getErr().println("kvindex ingest: " + problem);
      return 1;
    }
    return 0;
  }

  private InputStream open() throws IOException {
    return file.equals("-") ? System.in : Files.newInputStream(Path.of(file));
  }

  private ProgressBar progressBar() throws IOException {
    return Bars.of("ingesting", "bytes", file.equals("-") ? -1 : Files.size(Path.of(file)));
  }

  /** Reads to the end; why it could not, null = it could. */
  private @Nullable String readAll(InputStream in, ProgressBar bar)
      throws IOException, InterruptedException {
    JsonParser parser = ApiClient.JSON.createParser(in);
    try {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        if (token == JsonToken.START_OBJECT) {
          int line = parser.currentTokenLocation().getLineNr();
          try {
            take(parser.readValueAsTree(), line);
          } catch (UnreadableEvent e) {
            return "line " + line + ": " + e.getMessage() + "; reading ended there";
          }
          bar.stepTo(parser.currentLocation().getByteOffset());
        } else if (token != JsonToken.START_ARRAY && token != JsonToken.END_ARRAY) {
          return "line " + parser.currentTokenLocation().getLineNr() + " holds no event: " + token;
        }
      }
      return repeated == 0 ? null : repeated + " events had a number that was there before";
    } catch (JsonProcessingException e) {
      return "line " + parser.currentLocation().getLineNr() + " is not JSON; reading ended there";
    }
  }

  private void take(JsonNode object, int line)
      throws IOException, InterruptedException, UnreadableEvent {
    JsonNode id = object.path("event_id");
    if (!id.canConvertToLong() || !id.isIntegralNumber() || id.asLong() < 0) {
      counts.merge("skipped_no_event_id", 1L, Long::sum);
      return;
    }
    int rank = TrtllmTranslator.rankOf(object);
    IngestedRank target = ranks.get(rank);
    if (target == null) {
      target = begin(rank);
      ranks.put(rank, target);
    }
    if (!target.take(id.asLong(), object) && ++repeated <= MAX_NAMED) {
      spec.commandLine()
          .getErr()
          .printf(
              "kvindex ingest: line %d: event_id %d of rank %d came before; it is left out%n",
              line, id.asLong(), rank);
    }
  }

  private IngestedRank begin(int rank) throws IOException, InterruptedException {
    ObjectNode registration = publisher.toJson();
    registration
        .put("dp_rank", rank)
        .put("type", "TensorRT-LLM")
        .put("modelname", model)
        .put("block_size", blockSize)
        .put("copies", "set")
        .put("detached", true)
        .put("replace", true);
    return new IngestedRank(
        api,
        registration,
        host,
        new TrtllmTranslator(blockSize, rank, counts),
        counts,
        patienceSeconds);
  }
}
