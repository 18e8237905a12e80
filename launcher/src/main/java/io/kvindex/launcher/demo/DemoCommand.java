// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.demo;

import io.kvindex.launcher.process.AllInOne;
import io.kvindex.launcher.process.AllInOneOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows in a minute what kvindex does. */
@Command(
    name = "demo",
    description = {
      "Shows in a minute what kvindex does: a real trace of a chat service is routed over simulated vLLM engines.",
      "",
      "Starts a Kafka broker, the bridge and the indexer in this process, lets simulated engines publish their KV",
      "events over ZMQ, and asks /query for every request which engine to use. Then the same requests go to a second",
      "fleet in turns and to a third one routed by an oracle that sees the engines' caches.",
      "Ends with exit code 1 if an event was lost or a number was wrong.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class DemoCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Mixin private DemoOptions options;

  @Option(
      names = "--http-port",
      paramLabel = "PORT",
      description = "Port of the HTTP API, 0 = any free one (default: ${DEFAULT-VALUE}).",
      defaultValue = "0")
  private int port;

  @Option(
      names = "--keep",
      description = "Leave the server running afterwards and print curl lines to try.")
  private boolean keep;

  @Override
  public Integer call() throws IOException, InterruptedException {
    options.check();
    PrintWriter out = spec.commandLine().getOut();
    Path directory = Files.createTempDirectory("kvindex-demo-");
    out.printf("starting Kafka, bridge and indexer in %s ...%n", directory);
    out.flush();
    try (AllInOne server = AllInOne.start(AllInOneOptions.in(directory).withHttpPort(port))) {
      out.printf("ready at %s; %d engines publish over ZMQ%n%n", server.uri(), options.engines);
      out.flush();
      boolean right = new DemoRun(options, new IndexClient(server.uri()), out).run();
      if (keep) {
        keepRunning(server.uri(), out);
      }
      return right ? 0 : 1;
    } finally {
      delete(directory);
    }
  }

  private static void keepRunning(URI uri, PrintWriter out) throws InterruptedException {
    out.printf("%nThe server goes on; the engines are gone, what they held is still known. Try:%n");
    out.printf("  curl -s %s/workers%n", uri);
    out.printf("  curl -s %s/services%n", uri);
    out.printf("  curl -s %s/metrics | grep kvindex_%n", uri);
    out.printf(
        "  curl -s %s/query -d '{\"model\":\"%s\",\"token_ids\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}'%n",
        uri, IndexClient.MODEL);
    out.printf("Stop it with Ctrl-C.%n");
    out.flush();
    new CountDownLatch(1).await();
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted(Comparator.reverseOrder()).forEach(DemoCommand::deleteOne);
    }
  }

  private static void deleteOne(Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
