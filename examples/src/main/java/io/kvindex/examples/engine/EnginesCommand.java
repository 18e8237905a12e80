// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.engine;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvindex.sandbox.engine.EngineOptions;
import io.kvindex.sandbox.engine.SimulatedEngine;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs simulated engines and registers them with kvindex. */
@Command(
    name = "engines",
    description =
        "Simulated vLLM servers, registered with kvindex: something to put a proxy before.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    sortOptions = false)
public final class EnginesCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Option(names = "--count", defaultValue = "3", description = "How many.")
  private int count;

  @Option(
      names = "--first-port",
      defaultValue = "8101",
      description = "HTTP port of the first one; the others follow.")
  private int firstPort;

  @Option(
      names = "--index",
      paramLabel = "URL",
      defaultValue = "http://127.0.0.1:13333",
      description = "kvindex.")
  private URI index;

  @Option(names = "--model", defaultValue = "sim", description = "Model they serve.")
  private String model;

  @Option(names = "--token-ms", defaultValue = "20", description = "Time each token takes.")
  private int tokenMs;

  @Override
  public Integer call() throws IOException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    List<SimulatedServer> servers = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        SimulatedEngine engine = EngineOptions.vllm("sim-" + (i + 1)).start();
        servers.add(SimulatedServer.start(engine, firstPort + i, token -> pace()));
        register(engine);
        out.printf("sim-%d at %s%n", i + 1, servers.get(i).uri());
      }
      out.println("registered; stop them with Ctrl-C");
      out.flush();
      new CountDownLatch(1).await();
    } finally {
      servers.forEach(SimulatedServer::close);
    }
    return 0;
  }

  private void pace() {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(tokenMs));
  }

  private void register(SimulatedEngine engine) throws IOException, InterruptedException {
    String body =
        new ObjectMapper()
            .createObjectNode()
            .put("type", "vLLM")
            .put("instance_id", engine.options().name())
            .put("modelname", model)
            .put("block_size", engine.options().blockSize())
            .put("endpoint", engine.endpoint())
            .put("replay_endpoint", engine.replayEndpoint())
            .put("replace", true)
            .toString();
    HttpRequest request =
        HttpRequest.newBuilder(index.resolve("/register"))
            .timeout(Duration.ofSeconds(15))
            .POST(BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    if (answer.statusCode() != 200) {
      throw new IOException("kvindex refused " + engine.options().name() + ": " + answer.body());
    }
  }
}
