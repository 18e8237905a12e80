// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.rewind.ReplayFrom;
import io.kvindex.launcher.rewind.ReplayProgress;
import io.kvindex.launcher.terminal.Bars;
import io.kvindex.model.PublisherId;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Makes a copy of the tables from the events topic, beside those that serve. */
@Command(
    name = "replay",
    description = {
      "Makes a copy of the tables from the events topic, beside those that serve, and serves it at a port of its own.",
      "",
      "The copy has a directory of its own, DATA-DIR/replay/NAME, where it is kept: started again, it goes on",
      "from there, also as kvindex index --data-dir DATA-DIR/replay/NAME. Compare it with a replica:",
      "kvindex diff http://REPLICA http://COPY",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class ReplayCommand implements Callable<Integer> {

  private static final Logger LOG = LoggerFactory.getLogger(ReplayCommand.class);
  private static final String PREFIX = "replay-";
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  @Spec private CommandSpec spec;
  @Mixin private KafkaOptions cluster;

  @Option(
      names = "--from",
      required = true,
      paramLabel = "WHERE",
      description =
          "beginning, an offset of each partition, or a time as 2026-11-21T10:15:30Z by the broker's clock.")
  private String from;

  @Option(
      names = "--copy",
      paramLabel = "NAME",
      description = "Name of the copy (default: replay- and where it begins).")
  private @Nullable String copy;

  @Option(
      names = "--exit",
      description = "Stop when all is read that the topic had at the start (default: go on).")
  private boolean exit;

  @Option(
      names = "--http-port",
      paramLabel = "PORT",
      description = "Port of the copy's HTTP API, 0 = any free one (default: ${DEFAULT-VALUE}).",
      defaultValue = "0")
  private int httpPort;

  @Mixin private BindOption bind;

  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description = "Where it is kept, in replay/NAME (default: ${DEFAULT-VALUE}).",
      defaultValue = DataDirectory.DEFAULT)
  private Path dataDir;

  @Override
  public Integer call() throws IOException, InterruptedException {
    ReplayFrom where = ReplayFrom.parse(from);
    String name = copy == null ? PREFIX + where.label() : copy;
    ReplayedCopy.Options options =
        new ReplayedCopy.Options(
            cluster.kafka(),
            where,
            name,
            dataDir.resolve("replay").resolve(name),
            bind.address(),
            httpPort);
    try (StopSignal stop = StopSignal.install()) {
      return run(options, stop);
    }
  }

  private int run(ReplayedCopy.Options options, StopSignal stop)
      throws IOException, InterruptedException {
    try (ReplayedCopy replayed = ReplayedCopy.start(options)) {
      try {
        return run(replayed, options.copy(), stop);
      } finally {
        stop.closing();
      }
    } catch (InterruptedException | RuntimeException e) {
      if (!stop.isAsked()) {
        throw e;
      }
      LOG.debug("stopped", e);
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  private int run(ReplayedCopy replayed, String name, StopSignal stop) throws InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    long records = replayed.plan().records();
    out.printf("kvindex replay: copy %s, %,d records%n", name, records);
    if (replayed.isKept()) {
      out.println("  it goes on from where it was");
    } else {
      replayed.plan().missing().forEach(line -> out.println("  " + line));
    }
    out.printf("  answers at %s meanwhile%n", replayed.uri());
    out.flush();
    follow(replayed, records);
    replayed.awaitReady();
    report(replayed, out);
    if (!exit) {
      stop.await();
    }
    return 0;
  }

  private static void follow(ReplayedCopy replayed, long records) throws InterruptedException {
    ReplayProgress progress = replayed.progress();
    try (ProgressBar bar = Bars.of("replaying", "records", records)) {
      while (!progress.isDone()) {
        replayed.check();
        bar.stepTo(progress.records());
        bar.setExtraMessage(progress.rate());
        LockSupport.parkNanos(LOOK_NANOS);
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
      }
      progress.end();
      bar.stepTo(records);
    }
  }

  private static void report(ReplayedCopy replayed, PrintWriter out) {
    ReplayProgress progress = replayed.progress();
    out.println("  " + progress.summary());
    long unreadable = progress.unreadable();
    if (unreadable > 0) {
      out.printf(
          "  left out: %,d records that can not be read; the lines above say where%n", unreadable);
    } else if (!replayed.isKept() && replayed.plan().isWhole() && progress.missing() == 0) {
      out.println("  the log was whole: nothing that was ever announced is missing");
    }
    if (!progress.degraded().isEmpty()) {
      out.println(
          "  degraded: "
              + progress.degraded().stream()
                  .map(PublisherId::displayName)
                  .collect(Collectors.joining(", ")));
    }
    out.printf("kvindex replay: ready at %s%n", replayed.uri());
    out.flush();
  }
}
