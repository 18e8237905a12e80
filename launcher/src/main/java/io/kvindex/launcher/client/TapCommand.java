// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.client;

import io.kvindex.bridge.decode.EngineDecoder;
import io.kvindex.bridge.decode.Frame;
import io.kvindex.bridge.decode.Frames;
import io.kvindex.model.SourceType;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
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
      "Compare block_size and tokens with what you register and query.",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class TapCommand implements Callable<Integer> {

  private static final int HANDSHAKE_MS = 1_000;
  private static final int POLL_MS = 250;

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "ENDPOINT",
      description = "ZMQ event socket of the engine, tcp://HOST:PORT.")
  private String endpoint;

  @Option(
      names = "--type",
      paramLabel = "TYPE",
      description = "vLLM or SGLang (default: ${DEFAULT-VALUE}).",
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
  public Integer call() {
    SourceType source =
        SourceType.byWireName(type)
            .orElseThrow(() -> new ParameterException(spec.commandLine(), "unknown type " + type));
    TapPrinter printer =
        new TapPrinter(EngineDecoder.forSource(source), spec.commandLine().getOut());
    try (ZContext context = new ZContext(1);
        ZMQ.Socket socket = context.createSocket(SocketType.SUB)) {
      socket.setHandshakeIvl(
          HANDSHAKE_MS); // JeroMQ 0.6.0 now and then loses one; it then tries again
      socket.setReceiveTimeOut(POLL_MS);
      if (!socket.connect(endpoint)) {
        throw new ParameterException(spec.commandLine(), "not a ZMQ endpoint: " + endpoint);
      }
      socket.subscribe("");
      return receive(socket, printer) || seconds == 0 ? 0 : 1;
    }
  }

  /** Whether anything came. */
  private boolean receive(ZMQ.Socket socket, TapPrinter printer) {
    PrintWriter out = spec.commandLine().getOut();
    out.printf("listening at %s; nothing is shown until the engine publishes%n", endpoint);
    out.flush();
    long deadlineNs = System.nanoTime() + seconds * 1_000_000_000L;
    long seen = 0;
    while ((count == 0 || seen < count) && (seconds == 0 || System.nanoTime() < deadlineNs)) {
      byte[] first = socket.recv();
      if (first != null) {
        List<byte[]> frames = new ArrayList<>(List.of(first));
        while (socket.hasReceiveMore()) {
          frames.add(socket.recv());
        }
        Frame frame = Frames.live(frames);
        printer.print(frame);
        seen++;
      }
    }
    return seen > 0;
  }
}
