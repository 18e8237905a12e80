// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.view.CheckpointOffer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.Uuid;

/**
 * Copies the checkpoints of a running process into a directory, which is there only once all of
 * them are. Processes can borrow from it. For one thread.
 */
public final class Backup {

  private static final long PATIENCE_NS = TimeUnit.MINUTES.toNanos(10);
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);

  private final RemoteLender lender;
  private final RemoteLender.Offers found;
  private final Path to;
  private final Path part;

  private Backup(RemoteLender lender, Path to) throws IOException {
    this.lender = lender;
    this.to = to.toAbsolutePath();
    found = lender.offers();
    part = this.to.resolveSibling(this.to.getFileName() + ".part");
  }

  /**
   * Asks what there is.
   *
   * @param from {@code http://HOST:PORT} of a process with tables
   * @param to not there yet
   * @throws IOException if it does not answer, or the directory can not be used
   */
  public static Backup begin(String from, Path to) throws IOException {
    if (Files.exists(to)) {
      throw new IOException(to + " is there already");
    }
    Backup backup = new Backup(new RemoteLender(from), to);
    Replacement.delete(backup.part);
    Files.createDirectories(backup.part);
    return backup;
  }

  /** Checkpoints to be taken, by partition. */
  public List<CheckpointOffer> offers() {
    return found.checkpoints().stream().filter(offer -> offer.offset() >= 0).toList();
  }

  /** Partitions that process does not have, or not yet. */
  public int missing() {
    long empty = found.checkpoints().stream().filter(o -> o.offset() < 0 && !o.busy()).count();
    return (int) (found.partitions() - empty - offers().size());
  }

  /**
   * Takes one; waits while another one is being lent.
   *
   * @param progress bytes
   * @return what it is
   * @throws IOException if it does not come
   * @throws CheckpointRefusedException if what came can not be used
   */
  public CheckpointOffer take(CheckpointOffer offer, Progress progress)
      throws IOException, CheckpointRefusedException, InterruptedException {
    int partition = offer.partition();
    Uuid topicId = Uuid.fromString(offer.topicId());
    Wanted wanted = new Wanted(partition, topicId, Long.MAX_VALUE, offer.since());
    Path into = part.resolve(Integer.toString(partition));
    long began = System.nanoTime();
    while (!lender.fetch(wanted, into, progress)) {
      if (System.nanoTime() - began > PATIENCE_NS) {
        throw new IOException("other checkpoints were being lent for 10 minutes");
      }
      LockSupport.parkNanos(PAUSE_NS);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    Header header = Verification.of(into, topicId, partition);
    return header.offer(CheckpointStream.bytes(CheckpointStream.filesOf(into)), false);
  }

  /** All are there. */
  public void finish() throws IOException {
    CheckpointStream.sync(part);
    Files.move(part, to, StandardCopyOption.ATOMIC_MOVE);
    CheckpointStream.sync(Objects.requireNonNull(to.getParent()));
  }
}
