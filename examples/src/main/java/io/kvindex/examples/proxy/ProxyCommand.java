// SPDX-License-Identifier: Apache-2.0
package io.kvindex.examples.proxy;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs the proxy from a command line. */
@Command(
    name = "proxy",
    description = "Sends OpenAI-style requests to the engine that has their prefix cached.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    sortOptions = false)
public final class ProxyCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Option(
      names = "--engine",
      required = true,
      paramLabel = "INSTANCE=URL",
      description = "An engine: its instance_id in kvindex and its address. Once for each.")
  private Map<String, URI> engines;

  @Option(
      names = "--index",
      paramLabel = "URL",
      split = ",",
      defaultValue = "http://127.0.0.1:13333",
      description = "kvindex; several replicas separated by commas.")
  private List<URI> index;

  @Option(names = "--port", defaultValue = "8080", description = "Port to listen on.")
  private int port;

  @Option(names = "--bind", defaultValue = "127.0.0.1", description = "Address to listen on.")
  private String bind;

  @Option(
      names = "--tenant",
      defaultValue = "default",
      description = "tenant_id of the registrations.")
  private String tenant;

  @Option(
      names = "--block-size",
      paramLabel = "TOKENS",
      description = "Needed only where several are registered for a model.")
  private @Nullable Integer blockSize;

  @Option(
      names = "--base-model",
      paramLabel = "MODEL",
      description = "Registered model that the adapters belong to.")
  private @Nullable String baseModel;

  @Option(
      names = "--adapter",
      paramLabel = "MODEL",
      description =
          "A model name in requests that means a LoRA adapter of --base-model. Once for each.")
  private @Nullable Set<String> adapters;

  @Option(
      names = "--deadline-ms",
      defaultValue = "5",
      description = "Longest time kvindex may take; the proxy waits twice as long at most.")
  private int deadlineMs;

  @Option(
      names = "--tokenize-timeout-ms",
      defaultValue = "200",
      description = "Longest time an engine may take for the tokens of a text.")
  private int tokenizeTimeoutMs;

  @Option(
      names = "--load-tokens",
      defaultValue = "1024",
      description = "What a request in flight weighs, in cached tokens.")
  private int loadTokens;

  @Option(
      names = "--cool-down-ms",
      defaultValue = "1000",
      description = "How long an engine that refused is asked last.")
  private int coolDownMs;

  @Option(
      names = "--max-in-flight",
      defaultValue = "256",
      description = "Most requests at a time; more are 429.")
  private int maxInFlight;

  @Option(
      names = "--engine-timeout-s",
      defaultValue = "600",
      description = "Longest silence of an engine that is answering.")
  private int engineTimeoutSeconds;

  @Override
  public Integer call() throws IOException, InterruptedException {
    ProxyOptions options =
        new ProxyOptions(
            bind,
            port,
            engines,
            index,
            tenant,
            baseModel,
            adapters == null ? Set.of() : adapters,
            blockSize,
            Duration.ofMillis(deadlineMs),
            Duration.ofMillis(tokenizeTimeoutMs),
            loadTokens,
            Duration.ofMillis(coolDownMs),
            maxInFlight,
            8 << 20,
            Duration.ofSeconds(engineTimeoutSeconds));
    try (CacheAwareProxy proxy = CacheAwareProxy.start(options)) {
      spec.commandLine().getOut().printf("proxy at %s, stop it with Ctrl-C%n", proxy.uri());
      spec.commandLine().getOut().flush();
      new CountDownLatch(1).await();
    }
    return 0;
  }
}
