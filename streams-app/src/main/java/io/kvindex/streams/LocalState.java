// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.RebuiltRows.Reason;
import io.kvindex.streams.store.RowFiles;
import io.kvindex.streams.store.SavedRows;
import io.kvindex.streams.topology.IndexTopology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a replica finds on its disk when it starts, and whether it can go on with it. Rows that are
 * too old, of another cluster or changelog, of another layout or damaged are thrown away, and Kafka
 * Streams restores them from the changelog.
 *
 * <p>Remembers until when the rows followed the changelog. Whoever stays away longer than the
 * changelog keeps tombstones may miss deletions: such rows would claim blocks that are long gone.
 */
final class LocalState {

  private static final Logger LOG = LoggerFactory.getLogger(LocalState.class);

  /** Behind the application's name: the file that says whose rows they are. */
  static final String IDENTITY = ".identity";

  private final Path tables;
  private final FollowedUntil followed;
  private final Path identity;
  private final RebuiltRows rebuilt;
  private final TaskDirectories tasks;

  /** Whether rows that are here by now are of a changelog that was made after the start. */
  private boolean begunAnew;

  LocalState(Path stateDir, String applicationId, RebuiltRows rebuilt) {
    this(stateDir, applicationId, rebuilt, RowFiles::delete);
  }

  /**
   * @param deletion fails as a disk may
   */
  LocalState(
      Path stateDir, String applicationId, RebuiltRows rebuilt, TaskDirectories.Deletion deletion) {
    this.rebuilt = rebuilt;
    tables = stateDir.resolve(applicationId);
    tasks = new TaskDirectories(tables, deletion);
    followed = new FollowedUntil(stateDir.resolve(applicationId + ".followed"));
    identity = stateDir.resolve(applicationId + IDENTITY);
  }

  /**
   * Throws away what can not be gone on with. To be called while nobody uses the rows.
   *
   * @param now the wall clock
   * @param own whose rows they have to be, null = Kafka did not say
   * @throws IllegalStateException if something can neither be used nor moved out of the way, or
   *     there is nothing and Kafka did not say
   */
  void prepare(Instant now, @Nullable LocalIdentity own) {
    try {
      if (own == null && tasks.all().isEmpty()) {
        // Its changelog may be gone, and then it must not go on from its place in the log.
        throw new IllegalStateException(
            "Kafka does not say what there is of the tables, and there is nothing under "
                + tables
                + ": start again when it answers");
      }
      if (tasks.all().isEmpty()) {
        SavedRows.deleteOld(tables, Instant.MAX); // nobody has looked whose they are
      } else {
        String age = tooOld(now);
        String stranger = own == null ? null : objection(own);
        if (age != null) {
          discardAll(Reason.TOO_OLD, age);
        } else if (stranger != null) {
          discardAll(Reason.NOT_THIS_CHANGELOG, stranger);
        } else {
          discardDamaged();
        }
      }
      if (own != null) {
        Files.createDirectories(tables);
        own.write(identity);
        begunAnew = own.changelog().isEmpty();
      }
    } catch (IOException e) {
      throw new IllegalStateException(
          "the tables under "
              + tables
              + " can not be used ("
              + e
              + "): give this user the right to read and write there, or delete them while kvindex"
              + " is stopped",
          e);
    }
  }

  /**
   * Why rows that were here at the start can not be gone on with as those of {@code own}, null =
   * they can, or there were none. Nobody has looked at that if Kafka was silent then.
   */
  @Nullable String objection(LocalIdentity own) {
    if (begunAnew) {
      return null;
    }
    LocalIdentity found = LocalIdentity.read(identity);
    return found == null ? "nothing says whose they are" : own.objectionTo(found);
  }

  /**
   * Writes down whose rows they are.
   *
   * @return false if that was not possible
   */
  boolean writeOwner(LocalIdentity own) {
    try {
      own.write(identity);
      return true;
    } catch (IOException e) {
      LOG.warn("cannot write {}: rows may be built anew at the next start", identity, e);
      return false;
    }
  }

  private void discardAll(Reason reason, String why) throws IOException {
    List<Path> all = tasks.all();
    LOG.warn(
        "local rows can not be used: {}; those of {} partitions are built anew from the changelog",
        why,
        all.size());
    for (Path task : all) {
      tasks.remove(task);
    }
    SavedRows.deleteOld(tables, Instant.MAX);
    rebuilt.count(reason, all.size());
  }

  private void discardDamaged() throws IOException {
    long startedNs = System.nanoTime();
    LOG.info("reading through local rows, partitions={}", tasks.all().size());
    for (Path task : tasks.all()) {
      Path rows = task.resolve("rocksdb").resolve(IndexTopology.STORE);
      String damage = RowFiles.damage(rows);
      if (damage != null) {
        boolean saved = Files.exists(SavedRows.of(task)); // looked at when they are put in place
        LOG.warn(
            "local rows under {} are damaged ({}): {}",
            task,
            damage,
            saved ? "those saved last are gone on with" : "they are built anew from the changelog");
        tasks.remove(saved ? rows : task);
        rebuilt.count(Reason.DAMAGED, 1);
      }
    }
    LOG.info("local rows looked at ms={}", (System.nanoTime() - startedNs) / 1_000_000);
  }

  /**
   * Throws away rows a killed process left behind, which Kafka Streams would do itself under
   * exactly-once. To be called after {@link #prepare}, where the rows have a changelog.
   */
  void discardLeftOpen() {
    int anew = 0;
    int saved = 0;
    try {
      for (Path task : tasks.all()) {
        Path rows = task.resolve("rocksdb").resolve(IndexTopology.STORE);
        if (RowFiles.wereLeftOpen(rows)) {
          boolean isSaved = Files.exists(SavedRows.of(task));
          tasks.remove(isSaved ? rows : task);
          saved += isSaved ? 1 : 0;
          anew += isSaved ? 0 : 1;
        }
      }
    } catch (IOException e) {
      LOG.warn("rows of a process that was killed cannot be deleted under {}", tables, e);
    }
    if (anew + saved > 0) {
      rebuilt.count(Reason.LEFT_OPEN, anew);
      LOG.info(
          "the process before was killed: {} partitions go on from rows saved last, {} are built"
              + " anew from the changelog",
          saved,
          anew);
    }
  }

  /** Why rows found here may lack deletions, null = they do not. */
  private @Nullable String tooOld(Instant now) throws IOException {
    Instant until = followed.read();
    if (until == null
        || Duration.between(until, now).abs().compareTo(MissedDeletions.LONGEST_ABSENCE) <= 0) {
      return null;
    }
    return "they followed the log until "
        + until
        + ", and now it is "
        + now
        + ": that is more than "
        + MissedDeletions.LONGEST_ABSENCE.toMinutes()
        + " minutes";
  }

  /** Notes that this replica follows; cheap enough to be called several times a second. */
  void follows(Instant now) {
    try {
      if (followed.write(now)) {
        SavedRows.deleteOld(tables, now.minus(MissedDeletions.LONGEST_ABSENCE));
      }
    } catch (IOException e) {
      LOG.warn("cannot write {}: rows may be built anew at the next start", followed, e);
    }
  }
}
