// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.view.CheckpointOffer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Checkpoints in a directory, one of each partition's number; nothing there is changed. */
final class BackupDirectory implements Lender {

  private final Path directory;

  BackupDirectory(Path directory) {
    this.directory = directory;
  }

  @Override
  public @Nullable CheckpointOffer offer(int partition)
      throws IOException, CheckpointRefusedException {
    Path of = directory.resolve(Integer.toString(partition));
    if (!Files.isDirectory(of)) {
      return null;
    }
    long bytes = CheckpointStream.bytes(CheckpointStream.filesOf(of));
    return Verification.headerOf(of).offer(bytes, false);
  }

  @Override
  public boolean fetch(Wanted wanted, Path into, Progress progress)
      throws IOException, CheckpointRefusedException, InterruptedException {
    Path of = directory.resolve(Integer.toString(wanted.partition()));
    List<Path> files = CheckpointStream.filesOf(of);
    long total = CheckpointStream.bytes(files);
    wanted.require(Verification.headerOf(of).offer(total, false));
    Files.createDirectory(into);
    long copied = 0;
    for (Path file : files) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      Path copy = Files.copy(file, into.resolve(file.getFileName()));
      CheckpointStream.sync(copy);
      copied += Files.size(copy);
      progress.at(copied, total);
    }
    CheckpointStream.sync(into);
    return true;
  }
}
