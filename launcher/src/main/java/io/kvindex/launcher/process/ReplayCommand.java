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
import java.util.regex.Pattern;
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

/** Builds the table from the events topic beside the running one. */
@Command(
    name = "replay",
    description = {
      "Builds the table from the events topic, beside the one that serves, and serves it at a port of its own.",
      "",
      "It has an application id and a directory of its own, which are deleted when it stops. Compare it",
      "with a replica: kvindex diff http://REPLICA http://REBUILD",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class ReplayCommand implements Callable<Integer> {

  private static final Logger LOG = LoggerFactory.getLogger(ReplayCommand.class);
  private static final Pattern APPLICATION = Pattern.compile("[A-Za-z0-9._-]{1,200}");
  private static final String PREFIX = "kvindex-replay-";
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
      names = "--app",
      paramLabel = "NAME",
      description = "Application id of the rebuild (default: kvindex-replay- and where it begins).")
  private @Nullable String application;

  @Option(
      names = "--anew",
      description = "Delete what a former rebuild has left under that application id.")
  private boolean anew;

  @Option(
      names = "--exit",
      description = "Stop when all is read that the topic had at the start (default: go on).")
  private boolean exit;

  @Option(
      names = "--http-port",
      paramLabel = "PORT",
      description = "Port of the rebuild's HTTP API, 0 = any free one (default: ${DEFAULT-VALUE}).",
      defaultValue = "0")
  private int httpPort;

  @Mixin private BindAddress bind;
  @Mixin private GoneSwapOptions gone;

  @Option(
      names = "--data-dir",
      paramLabel = "DIR",
      description = "Where its tables are kept while it runs (default: ${DEFAULT-VALUE}).",
      defaultValue = DataDirectory.DEFAULT)
  private Path dataDir;

  @Override
  public Integer call() throws IOException, InterruptedException {
    ReplayFrom where = ReplayFrom.parse(from);
    String name = application == null ? PREFIX + where.label() : checked(application);
    Rebuild.Options options =
        new Rebuild.Options(
            cluster.kafka(),
            where,
            name,
            anew,
            dataDir.resolve("replay").resolve(name),
            bind.address(),
            httpPort);
    try (StopSignal stop = StopSignal.install()) {
      return run(options, stop);
    }
  }

  private int run(Rebuild.Options options, StopSignal stop)
      throws IOException, InterruptedException {
    try (Rebuild rebuild = Rebuild.start(options)) {
      try {
        return run(rebuild, options.application(), stop);
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

  private int run(Rebuild rebuild, String name, StopSignal stop) throws InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    long records = rebuild.plan().records();
    out.printf("kvindex replay: application %s, %,d records%n", name, records);
    rebuild.plan().missing().forEach(line -> out.println("  " + line));
    out.printf("  answers at %s meanwhile%n", rebuild.uri());
    out.flush();
    follow(rebuild, records);
    rebuild.awaitReady();
    report(rebuild, out);
    if (!exit) {
      stop.await();
    }
    return 0;
  }

  /** It is a directory's name as well, and what was in that is deleted. */
  private static String checked(String application) {
    if (!APPLICATION.matcher(application).matches() || application.matches("[.]+")) {
      throw new IllegalArgumentException(
          "--app has to be 1 to 200 letters, digits, '.', '_' or '-', got " + application);
    }
    return application;
  }

  private static void follow(Rebuild rebuild, long records) throws InterruptedException {
    ReplayProgress progress = rebuild.progress();
    try (ProgressBar bar = Bars.of("replaying", "records", records)) {
      while (!progress.isDone()) {
        rebuild.check();
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

  private static void report(Rebuild rebuild, PrintWriter out) {
    ReplayProgress progress = rebuild.progress();
    out.println("  " + progress.summary());
    long unreadable = progress.unreadable();
    if (unreadable > 0) {
      out.printf(
          "  left out: %,d records that can not be read; the lines above say where%n", unreadable);
    } else if (rebuild.plan().isWhole() && progress.missing() == 0) {
      out.println("  the log was whole: nothing that was ever announced is missing");
    }
    if (!progress.degraded().isEmpty()) {
      out.println(
          "  degraded: "
              + progress.degraded().stream()
                  .map(PublisherId::displayName)
                  .collect(Collectors.joining(", ")));
    }
    out.printf("kvindex replay: ready at %s%n", rebuild.uri());
    out.flush();
  }
}
