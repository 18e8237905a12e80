// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.terminal.Bars;
import io.kvindex.streams.checkpoint.Backup;
import io.kvindex.streams.checkpoint.CheckpointRefusedException;
import io.kvindex.streams.view.CheckpointOffer;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import me.tongfei.progressbar.ProgressBar;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Copies a replica's checkpoints into a directory. */
@Command(
    name = "backup",
    description = {
      "Copies the checkpoints of a running replica into a directory: what the log has forgotten is there and",
      "in other replicas only. A new replica starts with it: kvindex index --borrow-from DIR",
      ""
    },
    mixinStandardHelpOptions = true,
    sortOptions = false)
public final class BackupCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Option(
      names = "--from",
      paramLabel = "URL",
      description = "Address of the replica (default: ${DEFAULT-VALUE}).",
      defaultValue = "${env:KVINDEX_SERVER:-http://127.0.0.1:13333}")
  private String from;

  @Option(
      names = "--to",
      required = true,
      paramLabel = "DIR",
      description = "A directory that is not there yet; it is there once all of the backup is.")
  private Path to;

  @Override
  public Integer call() throws IOException, CheckpointRefusedException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    Backup backup = Backup.begin(Lenders.http("--from", from), to);
    long bytes = 0;
    for (CheckpointOffer offer : backup.offers()) {
      CheckpointOffer taken = take(backup, offer);
      bytes += taken.bytes();
      out.printf(
          "  partition %d: records %d to %d, %,d bytes%n",
          taken.partition(), taken.since(), taken.offset(), taken.bytes());
    }
    backup.finish();
    out.printf(
        "kvindex backup: %d partitions, %,d bytes in %s%n", backup.offers().size(), bytes, to);
    if (backup.missing() > 0) {
      out.printf("  NOT THERE: %d partitions that this replica does not have%n", backup.missing());
      return CommandLine.ExitCode.SOFTWARE;
    }
    return CommandLine.ExitCode.OK;
  }

  private static CheckpointOffer take(Backup backup, CheckpointOffer offer)
      throws IOException, CheckpointRefusedException, InterruptedException {
    try (ProgressBar bar = Bars.of("partition " + offer.partition(), "bytes", offer.bytes())) {
      return backup.take(
          offer,
          (done, of) -> {
            bar.maxHint(of);
            bar.stepTo(done);
          });
    }
  }
}
