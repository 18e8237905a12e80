// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Makes kvindex follow an engine. */
@Command(
    name = "register",
    description = {
      "Makes kvindex follow the KV events of an engine.",
      "",
      "vLLM must run with --kv-events-config '{\"enable_kv_cache_events\":true,\"publisher\":\"zmq\",",
      "  \"endpoint\":\"tcp://*:5557\",\"replay_endpoint\":\"tcp://*:5558\"}'; SGLang with the same option and without",
      "  enable_kv_cache_events; TensorRT-LLM with kv_events_config. Each rank has ports of its own: register each.",
      "The same again with another --lora adds that adapter. What the flags mean in full: docs/api.md, Registration.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class RegisterCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private ApiClient api;
  @Mixin private PublisherOptions publisher;

  @Option(
      names = "--endpoint",
      required = true,
      paramLabel = "tcp://HOST:PORT",
      description = "The engine's ZMQ event socket.")
  private String endpoint;

  @Option(
      names = "--replay-endpoint",
      paramLabel = "tcp://HOST:PORT",
      description = "The engine's ZMQ replay socket; without it lost events stay lost.")
  private String replayEndpoint;

  @Option(
      names = "--type",
      paramLabel = "TYPE",
      description = "vLLM, SGLang, TensorRT-LLM, Mooncake or KVEvents (default: ${DEFAULT-VALUE}).",
      defaultValue = "vLLM")
  private String type;

  @Option(names = "--model", required = true, paramLabel = "NAME", description = "Model name.")
  private String model;

  @Option(
      names = "--block-size",
      required = true,
      paramLabel = "TOKENS",
      description =
          "Block size of the events (x dcp x pcp where the engine runs context parallel).")
  private int blockSize;

  @Mixin private SourceFlags source;

  @Override
  public Integer call() throws IOException, InterruptedException {
    ObjectNode body = publisher.toJson();
    body.put("endpoint", endpoint)
        .put("type", type)
        .put("modelname", model)
        .put("block_size", blockSize);
    if (replayEndpoint != null) {
      body.put("replay_endpoint", replayEndpoint);
    }
    source.addTo(body);
    JsonNode answer = api.post("/register", body);
    spec.commandLine()
        .getOut()
        .println(answer.path("instance_id").asText() + ": " + answer.path("status").asText());
    return 0;
  }
}
