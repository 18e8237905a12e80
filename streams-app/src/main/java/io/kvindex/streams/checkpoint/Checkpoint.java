// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.streams.checkpoint.CheckpointRefusedException.Reason;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.index.NameChanges;
import io.kvindex.streams.index.NameRow;
import io.kvindex.streams.view.CheckpointOffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Bytes;
import org.jspecify.annotations.Nullable;
import org.rocksdb.EnvOptions;
import org.rocksdb.IngestExternalFileOptions;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Snapshot;
import org.rocksdb.SstFileWriter;
import org.rocksdb.Status;

/**
 * A partition's table on disk, as it was after some record of the log: rows of dictionaries, of
 * names, and a {@link Header}.
 *
 * <p>What is written is there as a whole or not at all: all rows of a journal and the header are
 * one sorted file, which is synced before RocksDB takes it over and the manifest names it. After a
 * failure the database is opened anew before anything else is written.
 *
 * <p>Thread-safe; writing, lending and closing wait for each other.
 */
public final class Checkpoint implements AutoCloseable {

  static final byte[] HEADER = {'H'};

  /** So RocksDB says that a file is gone, whose error code is that of a failing disk. */
  private static final String MISSING_FILE = "No such file";

  static final byte DICTIONARY = 'D';

  /** What is being written; of no meaning where nobody writes. */
  private static final String WRITING = "rows.part";

  private static final long CLOSE_WAIT_S = 30;

  private final Path directory;
  private final Uuid topicId;
  private final int partition;
  private final Options options = RocksSettings.options();
  private final IngestExternalFileOptions takingOver =
      new IngestExternalFileOptions().setMoveFiles(true).setWriteGlobalSeqno(false);
  private final ReentrantLock lock = new ReentrantLock(true);

  /** Who reads keeps the files from being closed. */
  private final ReadWriteLock opening = new ReentrantReadWriteLock();

  // Of the row being written.
  private final NameRow name = new NameRow();
  private final ByteBuffer key = ByteBuffer.allocateDirect(NameRow.KEY_LENGTH);
  private ByteBuffer value = ByteBuffer.allocateDirect(4096);

  /** null while it could not be opened again, and after the end. */
  private volatile @Nullable RocksDB db;

  private boolean closed;

  /** Something failed: what RocksDB is at is not known. */
  private boolean uncertain;

  /** What was found or written last, null = nothing was written yet. */
  private volatile @Nullable Header newest;

  private Checkpoint(Path directory, Uuid topicId, int partition) {
    this.directory = directory;
    this.topicId = topicId;
    this.partition = partition;
  }

  /**
   * Opens the checkpoint of a partition, or makes an empty one; rows of the layout before this one
   * are converted first.
   *
   * @param directory its own; made if it is not there, its parents, too
   * @param topicId the log's id in Kafka
   * @throws CheckpointRefusedException if what is there can not be used; nothing is open then
   * @throws IOException if the directory can not be made, or another process uses it
   */
  public static Checkpoint open(Path directory, Uuid topicId, int partition)
      throws CheckpointRefusedException, IOException {
    Files.createDirectories(directory);
    requireBeginning(directory);
    Conversion.ifFormer(directory);
    Checkpoint checkpoint = new Checkpoint(directory, topicId, partition);
    try {
      RocksDB db = RocksDB.open(checkpoint.options, directory.toString());
      checkpoint.db = db;
      checkpoint.newest = header(db, topicId, partition);
      return checkpoint;
    } catch (RocksDBException e) {
      checkpoint.close();
      throw unreadable(e);
    } catch (CheckpointRefusedException | RuntimeException e) {
      checkpoint.close();
      throw e;
    }
  }

  /** Without this file RocksDB would begin anew and say nothing. */
  private static void requireBeginning(Path directory)
      throws CheckpointRefusedException, IOException {
    if (Files.exists(directory.resolve("CURRENT"))) {
      return;
    }
    try (Stream<Path> files = Files.list(directory)) {
      if (files.anyMatch(file -> file.toString().endsWith(".sst"))) {
        throw new CheckpointRefusedException(Reason.DAMAGED, "its file CURRENT is gone");
      }
    }
  }

  /**
   * Why rows can not be read, if that is their own fault.
   *
   * @throws IOException if it is not: another process uses them, the disk is full or fails, files
   *     are too many. That is no reason to throw them away
   */
  static CheckpointRefusedException unreadable(RocksDBException e) throws IOException {
    Status status = e.getStatus();
    boolean ofTheDisk = status != null && status.getCode() == Status.Code.IOError;
    if (ofTheDisk && !("" + e.getMessage()).contains(MISSING_FILE)) {
      throw new IOException("RocksDB can not read or write: " + e.getMessage(), e);
    }
    return new CheckpointRefusedException(
        Reason.DAMAGED, "RocksDB can not read it: " + e.getMessage(), e);
  }

  /** What it is of, null = nothing was written yet. */
  public @Nullable Header header() {
    return newest;
  }

  static @Nullable Header header(RocksDB db, Uuid topicId, int partition)
      throws CheckpointRefusedException, RocksDBException {
    byte[] row = db.get(HEADER);
    if (row == null) {
      return null;
    }
    Header header = Header.decode(row);
    header.requireOf(topicId, partition);
    return header;
  }

  private RocksDB opened() {
    RocksDB opened = db;
    if (opened == null) {
      throw new IllegalStateException("the checkpoint in " + directory + " is closed");
    }
    return opened;
  }

  /**
   * Loads the table. What it throws leaves a part of it in memory: the blocks are to be thrown away
   * then.
   *
   * @param blocks new ones
   * @param dictionary takes all rows of dictionaries as they were put into the journal, before any
   *     name is read, and gives the blocks their tables, spaces and holders
   * @return what it is of, null = there is none yet, and nothing was done
   * @throws CheckpointRefusedException if it can not be used
   * @throws IOException if the disk can not be read
   * @throws InterruptedException if the thread was interrupted
   */
  public @Nullable Header load(
      Blocks blocks, Consumer<SortedMap<Bytes, byte[]>> dictionary, Progress progress)
      throws CheckpointRefusedException, IOException, InterruptedException {
    Header header = newest;
    if (header != null) {
      try (ReadOptions all = new ReadOptions()) {
        new Loading(new StoredRows(opened(), all, header), "kvindex-rows-" + partition)
            .load(blocks, dictionary, progress);
      }
    }
    return header;
  }

  /**
   * Writes a journal: afterwards it is on the disk, come what may. Where it throws, the disk has
   * what it had before or all of it; the same journal may be tried again, none but that one, and
   * written twice it says the same. Does not release the journal.
   *
   * @param upTo what the table was the fold of when the journal was swapped out
   * @return how many rows
   * @throws RocksDBException if it can not be written now
   */
  public int write(Journal journal, Folded upTo) throws RocksDBException {
    lock.lock();
    try {
      RocksDB to = ready();
      NameChanges changes = new NameChanges(journal);
      SortedMap<Bytes, byte @Nullable []> dictionaries = journal.rows();
      uncertain = true;
      Path file = directory.resolve(WRITING);
      Header before = newest;
      Header header =
          new Header(
              topicId,
              partition,
              before == null ? 1 : before.number() + 1,
              upTo,
              changes.grown() + (before == null ? 0 : before.names()),
              journal.state());
      writeRows(changes, dictionaries, header, file);
      to.ingestExternalFile(List.of(file.toString()), takingOver);
      uncertain = false;
      newest = header;
      return changes.count() + dictionaries.size();
    } finally {
      lock.unlock();
    }
  }

  /**
   * In the order of their keys: dictionaries, the header, names.
   *
   * @param file if it is there, another one takes its name: it may be one that RocksDB has taken
   *     over by now, of a process that was killed before the name was gone
   */
  private void writeRows(
      NameChanges changes,
      SortedMap<Bytes, byte @Nullable []> dictionaries,
      Header header,
      Path file)
      throws RocksDBException {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new RocksDBException("IO error: " + e);
    }
    try (EnvOptions env = new EnvOptions();
        SstFileWriter to = new SstFileWriter(env, options)) {
      to.open(file.toString());
      for (Map.Entry<Bytes, byte @Nullable []> entry : dictionaries.entrySet()) {
        dictionary(entry.getKey().get(), entry.getValue(), to);
      }
      to.put(HEADER, header.encode());
      while (changes.next(name)) {
        name.writeKey(key);
        if (name.exists()) {
          value = name.writeValue(value);
          to.put(key, value);
        } else {
          byte[] gone = new byte[NameRow.KEY_LENGTH];
          key.get(gone);
          to.delete(gone);
        }
      }
      to.finish();
    }
  }

  /** The database, anew if the last one failed. */
  private RocksDB ready() throws RocksDBException {
    if (closed) {
      throw new IllegalStateException("the checkpoint in " + directory + " is closed");
    }
    opening.writeLock().lock();
    try {
      if (uncertain && db != null) {
        db.close();
        db = null;
      }
      if (db == null) {
        db = RocksDB.open(options, directory.toString());
      }
    } finally {
      opening.writeLock().unlock();
    }
    uncertain = false;
    return db;
  }

  private static void dictionary(byte[] key, byte @Nullable [] value, SstFileWriter to)
      throws RocksDBException {
    byte[] own = new byte[key.length + 1];
    own[0] = DICTIONARY;
    System.arraycopy(key, 0, own, 1, key.length);
    if (value == null) {
      to.delete(own);
    } else {
      to.put(own, value);
    }
  }

  /** Reads all rows. */
  @FunctionalInterface
  public interface Reading<T> {
    /** Returns what it found, null = nothing. */
    @Nullable T of(StoredRows rows) throws RocksDBException;
  }

  /**
   * Reads the rows as they are now; what is written meanwhile is not in them. Keeps it from being
   * closed, so it should not take more than some seconds.
   *
   * @return null = nothing was written yet
   * @throws CheckpointRefusedException if they can not be read
   * @throws RocksDBException if they can not be read now
   */
  public <T> @Nullable T read(Reading<T> reading)
      throws CheckpointRefusedException, RocksDBException {
    opening.readLock().lock();
    try {
      RocksDB from = opened();
      Snapshot snapshot = from.getSnapshot();
      try (ReadOptions options = new ReadOptions().setSnapshot(snapshot)) {
        byte[] row = from.get(options, HEADER);
        if (row == null) {
          return null;
        }
        return reading.of(new StoredRows(from, options, Header.decode(row)));
      } finally {
        from.releaseSnapshot(snapshot);
      }
    } finally {
      opening.readLock().unlock();
    }
  }

  /**
   * Makes a copy of what was written last, by hard links where the target is on the same disk: what
   * is written later changes neither. The copy is a directory for {@link #open} or {@link
   * Verification}.
   *
   * @param target not there yet, its parent is
   * @return what the copy is of, null = nothing was written yet, and there is no copy
   * @throws CheckpointRefusedException if it can not be read
   * @throws RocksDBException if it can not be copied now
   */
  public @Nullable Header lend(Path target) throws CheckpointRefusedException, RocksDBException {
    lock.lock();
    try {
      RocksDB from = ready();
      Header header = header(from, topicId, partition);
      if (header != null) {
        try (org.rocksdb.Checkpoint links = org.rocksdb.Checkpoint.create(from)) {
          links.createCheckpoint(target.toString());
        }
      }
      return header;
    } finally {
      lock.unlock();
    }
  }

  /** Bytes its files take. Does not wait for a write under way. */
  public long bytes() {
    opening.readLock().lock();
    try {
      RocksDB from = db;
      return from == null ? 0 : from.getLongProperty("rocksdb.total-sst-files-size");
    } catch (RocksDBException e) {
      return 0;
    } finally {
      opening.readLock().unlock();
    }
  }

  /** What others are told of it once it is the fold of that. */
  public CheckpointOffer offer(Folded folded, boolean busy) {
    return new Header(topicId, partition, 0, folded, 0, new byte[0]).offer(bytes(), busy);
  }

  /**
   * Closes the files; what was being written and is not on the disk is not there at the next start.
   * Waits for a write under way, half a minute at most: where a disk does not answer, the files
   * stay open.
   */
  @Override
  public void close() {
    boolean free;
    try {
      free = lock.tryLock(CLOSE_WAIT_S, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      free = lock.tryLock();
    }
    if (!free) {
      return;
    }
    try {
      if (!closed) {
        closed = true;
        opening.writeLock().lock();
        try {
          if (db != null) {
            db.close();
            db = null;
          }
        } finally {
          opening.writeLock().unlock();
        }
        takingOver.close();
        options.close();
      }
    } finally {
      lock.unlock();
    }
  }
}
