// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import io.kvindex.streams.store.RowFiles;
import io.kvindex.streams.store.SavedRows;
import io.kvindex.streams.topology.IndexTopology;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
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

  private static final String IDENTITY = ".identity";

  /** Behind the name of a task's directory that could be neither used nor deleted. */
  private static final String UNUSABLE = ".unusable-";

  /** A task's directory; the task's partition follows the underscore. */
  private static final Pattern TASK = Pattern.compile("\\d+_\\d+");

  /** Why rows are thrown away. */
  enum Reason {
    TOO_OLD,
    NOT_THIS_CHANGELOG,
    DAMAGED;

    private String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Path tables;
  private final FollowedUntil followed;
  private final Path identity;
  private final MeterRegistry metrics;
  private final Deletion deletion;

  /** Whether rows that are here by now are of a changelog that was made after the start. */
  private boolean begunAnew;

  /** Deletes a directory with all that is in it. */
  interface Deletion {
    void delete(Path directory) throws IOException;
  }

  LocalState(Path stateDir, String applicationId, MeterRegistry metrics) {
    this(stateDir, applicationId, metrics, RowFiles::delete);
  }

  /**
   * @param deletion fails as a disk may
   */
  LocalState(Path stateDir, String applicationId, MeterRegistry metrics, Deletion deletion) {
    this.metrics = metrics;
    this.deletion = deletion;
    tables = stateDir.resolve(applicationId);
    followed = new FollowedUntil(stateDir.resolve(applicationId + ".followed"));
    identity = stateDir.resolve(applicationId + IDENTITY);
    for (Reason reason : Reason.values()) {
      rebuilt(reason, 0);
    }
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
      if (own == null && tasks().isEmpty()) {
        // Its changelog may be gone, and then it must not go on from its place in the log.
        throw new IllegalStateException(
            "Kafka does not say what there is of the tables, and there is nothing under "
                + tables
                + ": start again when it answers");
      }
      if (tasks().isEmpty()) {
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

  /** Rows of one partition were thrown away while the replica runs. */
  void discardedWhileRunning() {
    rebuilt(Reason.DAMAGED, 1);
  }

  /** Rows of one partition will be, as they have not followed the changelog while it runs. */
  void outdatedWhileRunning(int partition, Duration away) {
    LOG.warn(
        "rows of partition {} have not followed the log for {} minutes, more than {}: they are"
            + " built anew from the changelog",
        partition,
        away.toMinutes(),
        MissedDeletions.LONGEST_ABSENCE.toMinutes());
    rebuilt(Reason.TOO_OLD, 1);
  }

  /**
   * Rows of some partitions will be, as they turned out to be of another changelog while it runs.
   * Whose they are stays written down: if it ends before that, the next start finds the same.
   */
  void strangersWhileRunning(String why, int partitions) {
    LOG.warn("local rows can not be used: {}; they are built anew from the changelog", why);
    rebuilt(Reason.NOT_THIS_CHANGELOG, partitions);
  }

  /** Rows of one partition will be, as they are of more than its changelog holds. */
  void aheadWhileRunning(int partition, long next, long end) {
    LOG.warn(
        "rows of partition {} go on at offset {} of the changelog, which ends at {}: it is another"
            + " one or lost its end; they are built anew from it, and what it lacks from the log",
        partition,
        next,
        end);
    rebuilt(Reason.NOT_THIS_CHANGELOG, 1);
  }

  private void discardAll(Reason reason, String why) throws IOException {
    List<Path> all = tasks();
    LOG.warn(
        "local rows can not be used: {}; those of {} partitions are built anew from the changelog",
        why,
        all.size());
    for (Path task : all) {
      remove(task);
    }
    SavedRows.deleteOld(tables, Instant.MAX);
    rebuilt(reason, all.size());
  }

  private void discardDamaged() throws IOException {
    long startedNs = System.nanoTime();
    LOG.info("reading through local rows, partitions={}", tasks().size());
    for (Path task : tasks()) {
      Path rows = task.resolve("rocksdb").resolve(IndexTopology.STORE);
      String damage = RowFiles.damage(rows);
      if (damage != null) {
        boolean saved = Files.exists(SavedRows.of(task)); // looked at when they are put in place
        LOG.warn(
            "local rows under {} are damaged ({}): {}",
            task,
            damage,
            saved ? "those saved last are gone on with" : "they are built anew from the changelog");
        remove(saved ? rows : task);
        rebuilt(Reason.DAMAGED, 1);
      }
    }
    LOG.info("local rows looked at ms={}", (System.nanoTime() - startedNs) / 1_000_000);
  }

  /**
   * What can not be deleted is out of the way under another name: rows are built anew all the same.
   */
  private void remove(Path directory) throws IOException {
    try {
      deletion.delete(directory);
    } catch (IOException e) {
      Path aside = directory.resolveSibling(directory.getFileName() + UNUSABLE + UUID.randomUUID());
      Files.move(directory, aside, StandardCopyOption.ATOMIC_MOVE);
      LOG.warn("rows that can not be deleted either ({}) are in {}: delete them by hand", e, aside);
    }
  }

  private void rebuilt(Reason reason, int partitions) {
    metrics.counter("kvindex.local.rows.discarded", "reason", reason.label()).increment(partitions);
  }

  private List<Path> tasks() throws IOException {
    if (!Files.isDirectory(tables)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(tables)) {
      return all.filter(path -> TASK.matcher(path.getFileName().toString()).matches())
          .sorted()
          .toList();
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

  /**
   * Deletes all there is of this application. To be called while nobody uses the rows.
   *
   * @throws IOException if something can not be deleted
   */
  void delete() throws IOException {
    if (Files.exists(tables)) {
      RowFiles.delete(tables);
    }
    followed.delete();
    // Last: it is what a later start finds the rest by.
    Files.deleteIfExists(identity);
  }

  /**
   * Deletes what applications have left that served here before: one that was killed could not.
   *
   * @param serving keeps what it has
   */
  static void deleteOthers(Path stateDir, String serving, MeterRegistry metrics) {
    for (String other : applications(stateDir)) {
      if (!other.equals(serving)) {
        try {
          new LocalState(stateDir, other, metrics).delete();
          LOG.info("deleted the rows of application {}, which serves no more", other);
        } catch (IOException e) {
          LOG.warn(
              "the rows of application {} under {} can not be deleted, they are of no use: {}",
              other,
              stateDir,
              e.toString());
        }
      }
    }
  }

  private static List<String> applications(Path stateDir) {
    if (!Files.isDirectory(stateDir)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(stateDir)) {
      return all.map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(IDENTITY))
          .map(name -> name.substring(0, name.length() - IDENTITY.length()))
          .sorted()
          .toList();
    } catch (IOException e) {
      LOG.warn("what is under {} can not be listed: {}", stateDir, e.toString());
      return List.of();
    }
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
