// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Checkpoint;
import org.rocksdb.FlushOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A partition's rows as they were at one of the last commits, beside the rows in use: links to the
 * same files, so that a copy costs next to nothing.
 *
 * <p>Under exactly-once Kafka Streams throws rows away that were not closed in order, as they hold
 * what no transaction has committed, and reads all of the changelog again, most of which are rows
 * that changed since. What was saved holds nothing uncommitted, and is gone on with from where it
 * is: the last part of the changelog in place of all of it. It is put in place when the process
 * starts, before Kafka Streams tells the group what it has: a replica that seems to have nothing
 * gets any copies, and others read anew those it has. It is used once. Whatever is wrong with it,
 * the next time rows are thrown away there is nothing, and all is restored.
 *
 * <p>For the thread that owns the task.
 */
public final class SavedRows {

  private static final Logger LOG = LoggerFactory.getLogger(SavedRows.class);

  /** Follows the name of a task's directory; Kafka Streams takes no notice of such directories. */
  private static final String SUFFIX = ".saved";

  /** Behind the opening of a store: a process that dies is started again, and may die again. */
  private static final Duration FIRST = Duration.ofSeconds(5);

  /** RocksDB's number of full memtables that are not in files yet. */
  private static final String UNWRITTEN = "rocksdb.num-immutable-mem-table";

  private final Path rows;
  private final Path saved;
  private final Policy policy;
  private long dueNs;
  private boolean writing;
  private boolean savedOnce;

  /**
   * When rows are saved.
   *
   * @param every how often at most; each time RocksDB writes what it has in memory
   * @param usable how old they may be when they are gone on with: the changelog has to have the
   *     deletions since; zero = rows are not saved
   */
  public record Policy(Duration every, Duration usable) {

    /** Rows that have no changelog, which they would be gone on with from. */
    public static final Policy NEVER = new Policy(Duration.ZERO, Duration.ZERO);

    private boolean isNever() {
      return usable.isZero();
    }
  }

  SavedRows(Path task, String store, Policy policy) {
    this.rows = task.resolve("rocksdb").resolve(store);
    this.saved = of(task);
    this.policy = policy;
    dueNs = System.nanoTime() + Math.min(FIRST.toNanos(), policy.every().toNanos());
  }

  /** Where those of a task are; nothing else is in there. */
  public static Path of(Path task) {
    return task.resolveSibling(task.getFileName() + SUFFIX);
  }

  /** Deletes those of an application's tasks that can not be gone on with any more. */
  public static void deleteOld(Path tables, Instant before) throws IOException {
    if (!Files.isDirectory(tables)) {
      return;
    }
    try (Stream<Path> all = Files.list(tables)) {
      for (Path one : all.filter(SavedRows::isOurs).toList()) {
        if (Files.getLastModifiedTime(one).toInstant().isBefore(before)) {
          RowFiles.delete(one);
        }
      }
    }
  }

  private static boolean isOurs(Path directory) {
    return directory.getFileName().toString().contains(SUFFIX);
  }

  /**
   * Puts them where the rows were, if those were thrown away; to be called before the store opens.
   *
   * @return the time they are of, null = they are not there. They were not closed in order, but
   *     nothing is in them that is not committed
   */
  @Nullable Instant takeBack(Instant now) {
    return Files.exists(rows) ? null : putInPlace(now);
  }

  /**
   * The same where rows are there that were not closed in order: they go.
   *
   * @return as above; null = nothing has changed but that what is of no use was deleted
   */
  @Nullable Instant replace(Instant now) {
    return putInPlace(now);
  }

  private @Nullable Instant putInPlace(Instant now) {
    if (policy.isNever() || !Files.exists(saved)) {
      return null;
    }
    try {
      Instant of = Files.getLastModifiedTime(saved).toInstant();
      Duration age = Duration.between(of, now).abs(); // a clock may have been set back
      String problem =
          age.compareTo(policy.usable()) > 0
              ? "they are " + age.toMinutes() + " minutes old"
              : RowFiles.damage(saved);
      Files.setLastModifiedTime(saved, FileTime.from(of)); // looking at them leaves a file
      if (problem == null) {
        if (Files.exists(rows)) {
          RowFiles.delete(rows);
        }
        Files.createDirectories(rows.getParent());
        Files.move(saved, rows, StandardCopyOption.ATOMIC_MOVE);
        LOG.info("goes on from rows saved {} s ago in {}", age.toSeconds(), rows);
        return of;
      }
      LOG.warn("saved rows are of no use ({}): all are restored in {}", problem, rows);
    } catch (IOException e) {
      LOG.warn("saved rows can not be used: all are restored in {}", rows, e);
    }
    forget();
    return null;
  }

  /** Whether it is time to save them again. */
  boolean isDue() {
    return !policy.isNever() && System.nanoTime() - dueNs >= 0;
  }

  /**
   * Has RocksDB write what it has in memory, beside the calling thread: what is left to be written
   * when rows are saved is what came since. To be called until it is done, when it is time.
   *
   * <p>It writes the rows, not what Kafka Streams keeps beside them: whether they were closed in
   * order. The first time nothing is written but all of it together, so that no newer rows are ever
   * on the disk beside a word of before that says they were.
   *
   * @return whether it is done
   */
  boolean isMostlyWritten(RocksDB database) {
    if (!savedOnce) {
      return true;
    }
    try {
      if (!writing) {
        writing = true;
        try (FlushOptions beside = new FlushOptions()) {
          database.flush(beside.setWaitForFlush(false).setAllowWriteStall(true));
        }
      }
      return database.getLongProperty(UNWRITTEN) == 0;
    } catch (RocksDBException e) {
      LOG.warn("rows in {} can not be written: a crash will cost a full restore", rows, e);
      return false;
    }
  }

  /**
   * Saves them. To be called when they hold what is committed and nothing else.
   *
   * @param of the time they are of: while a changelog is being read that is when this began, as
   *     deletions of before may still have to be read
   */
  void save(RocksDB database, Instant of) {
    long nowNs = System.nanoTime();
    dueNs = nowNs + policy.every().toNanos();
    writing = false;
    Path next = saved.resolveSibling(saved.getFileName() + ".next"); // swept up as the others are
    Path former = saved.resolveSibling(saved.getFileName() + ".former");
    try (Checkpoint checkpoint = Checkpoint.create(database)) {
      RowFiles.delete(next);
      checkpoint.createCheckpoint(next.toString());
      savedOnce = true;
      Files.setLastModifiedTime(next, FileTime.from(of));
      RowFiles.delete(former);
      // A kill between the two costs a full restore: both are quick, unlike deleting files.
      if (Files.exists(saved)) {
        Files.move(saved, former, StandardCopyOption.ATOMIC_MOVE);
      }
      Files.move(next, saved, StandardCopyOption.ATOMIC_MOVE);
      RowFiles.delete(former);
      LOG.debug("saved {} in {} ms", rows, (System.nanoTime() - nowNs) / 1_000_000);
    } catch (RocksDBException | IOException e) {
      LOG.warn("rows in {} can not be saved: a crash will cost a full restore", rows, e);
    }
  }

  /** What was saved is as wrong as the rows are. */
  void forget() {
    try {
      RowFiles.delete(saved);
    } catch (IOException e) {
      LOG.warn("cannot delete {}", saved, e);
    }
  }
}
