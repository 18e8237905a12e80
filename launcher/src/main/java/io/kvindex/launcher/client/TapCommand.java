// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.Frames;
import io.kvindex.bridge.zmq.IoLoop;
import io.kvindex.bridge.zmq.Resolver;
import io.kvindex.model.Clock;
import io.kvindex.model.SourceType;
import io.kvindex.model.registration.Endpoint;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows what a live engine publishes, without a server. */
@Command(
    name = "tap",
    description = {
      "Prints the events a live engine publishes, decoded, as they come. Needs no server and changes nothing.",
      "Compare block_size and tokens with what you register and query; of a hybrid model those of kind=full_attention.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class TapCommand implements Callable<Integer> {

  private static final int WAITING = 1_000;
  private static final int POLL_MS = 250;

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "ENDPOINT",
      description = "ZMQ event socket of the engine, tcp://HOST:PORT.")
  private String endpoint;

  @Option(
      names = "--type",
      paramLabel = "TYPE",
      description = "vLLM, SGLang, TensorRT-LLM, Mooncake or KVEvents (default: ${DEFAULT-VALUE}).",
      defaultValue = "vLLM")
  private String type;

  @Option(
      names = "--count",
      paramLabel = "N",
      description = "Stop after N batches (default: never).",
      defaultValue = "0")
  private long count;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "Stop after N seconds (default: never).",
      defaultValue = "0")
  private long seconds;

  @Override
  public Integer call() throws InterruptedException {
    SourceType source =
        SourceType.byWireName(type)
            .orElseThrow(() -> new ParameterException(spec.commandLine(), "unknown type " + type));
    Endpoint address;
    try {
      address = Endpoint.parse(endpoint);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), "not a ZMQ endpoint: " + endpoint + ": " + e.getMessage());
    }
    TapPrinter printer =
        new TapPrinter(EngineDecoder.forSource(source), spec.commandLine().getOut());
    Messages messages = new Messages();
    try (Resolver resolver = new Resolver(Resolver.Lookup.SYSTEM);
        IoLoop loop = new IoLoop(messages, resolver)) {
      loop.execute(() -> loop.subscribe(address, "", WAITING, messages, messages));
      return receive(messages, printer) || seconds == 0 ? 0 : 1;
    }
  }

  /** Whether anything came. */
  private boolean receive(Messages messages, TapPrinter printer) throws InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    out.printf("listening at %s; nothing is shown until the engine publishes%n", endpoint);
    out.flush();
    long startNs = System.nanoTime();
    long forNs = seconds == 0 ? Long.MAX_VALUE : TimeUnit.SECONDS.toNanos(seconds);
    long seen = 0;
    while ((count == 0 || seen < count) && System.nanoTime() - startNs < forNs) {
      List<byte[]> frames = messages.next();
      if (frames != null) {
        printer.print(Frames.live(frames, Clock.micros()));
        seen++;
      }
    }
    return seen > 0;
  }

  /** What came and is not printed yet; what does not fit waits at the engine. */
  private final class Messages implements IoLoop.Reader, IoLoop.Gate, IoLoop.Listener {
    private final BlockingQueue<List<byte[]>> queue = new ArrayBlockingQueue<>(WAITING);

    /** Null if none came for a while. */
    @Nullable List<byte[]> next() throws InterruptedException {
      return queue.poll(POLL_MS, TimeUnit.MILLISECONDS);
    }

    @Override
    public boolean wantsMessages() {
      return queue.remainingCapacity() > 0;
    }

    @Override
    public void onMessage(List<byte[]> frames) {
      queue.add(frames);
    }

    @Override
    public void onReopened() {}

    @Override
    public boolean hasRoom() {
      return true;
    }

    @Override
    public boolean isClosed() {
      return false;
    }

    @Override
    public boolean tryReopen() {
      return true;
    }

    @Override
    public void connected() {}

    @Override
    public void disconnected() {}

    @Override
    public void unresolved(String problem) {
      spec.commandLine().getErr().println("kvindex tap: " + problem);
    }
  }
}
