// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.streams.checkpoint.CheckpointRefusedException.Reason;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.NameBatch;
import io.kvindex.streams.index.Restoring;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Range;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.SizeApproximationFlag;
import org.rocksdb.Slice;

/**
 * Loads a table: a thread of its own reads rows, the caller's puts names into memory, and each
 * takes about the same time.
 */
final class Loading {

  private static final int BATCHES = 16;
  private static final long READ_AHEAD_BYTES = 2L << 20;
  private static final int VALUE_BYTES = 4096;

  private final RocksDB db;
  private final Header header;
  private final String threadName;
  private final BlockingQueue<NameBatch> full = new ArrayBlockingQueue<>(BATCHES + 1);
  private final BlockingQueue<NameBatch> empty = new ArrayBlockingQueue<>(BATCHES + 1);

  /** What ended the reading early. Written before the last batch is handed over. */
  private @Nullable Throwable failure;

  Loading(RocksDB db, Header header, String threadName) {
    this.db = db;
    this.header = header;
    this.threadName = threadName;
  }

  void load(Blocks blocks, Dictionary dictionary, Progress progress)
      throws CheckpointRefusedException, IOException, InterruptedException {
    try {
      readDictionary(dictionary);
      Restoring restoring = blocks.restore(header.state());
      long names = loadNames(restoring, progress);
      if (names != header.names()) {
        throw new CheckpointRefusedException(
            Reason.INCOMPLETE, "it has " + names + " names of " + header.names());
      }
    } catch (RocksDBException e) {
      throw Checkpoint.unreadable(e);
    } catch (RuntimeException e) {
      // Whatever whoever took the rows stumbled over: they are not what was once written.
      String what = e instanceof MalformedRecordException ? "" + e.getMessage() : e.toString();
      throw new CheckpointRefusedException(Reason.MALFORMED_ROW, what, e);
    }
  }

  private void readDictionary(Dictionary dictionary) throws RocksDBException {
    try (ReadOptions options = new ReadOptions().setFillCache(false);
        Slice end = new Slice(new byte[] {Checkpoint.DICTIONARY + 1});
        ReadOptions bounded = options.setIterateUpperBound(end);
        RocksIterator rows = db.newIterator(bounded)) {
      for (rows.seek(new byte[] {Checkpoint.DICTIONARY}); rows.isValid(); rows.next()) {
        byte[] key = rows.key();
        dictionary.row(Arrays.copyOfRange(key, 1, key.length), rows.value());
      }
      rows.status();
    }
    dictionary.end();
  }

  private long loadNames(Restoring restoring, Progress progress)
      throws RocksDBException, InterruptedException {
    restoring.expect(names(restoring.spaces()));
    for (int i = 0; i < BATCHES; i++) {
      empty.add(restoring.newBatch());
    }
    Thread reader = new Thread(this::readNames, threadName);
    reader.setDaemon(true);
    reader.start();
    long names = 0;
    try {
      for (NameBatch batch = full.take(); batch.size() > 0; batch = full.take()) {
        restoring.insert(batch);
        names += batch.size();
        batch.clear();
        empty.put(batch);
        progress.at(names, header.names());
      }
    } finally {
      end(reader);
    }
    if (failure instanceof RocksDBException e) {
      throw e;
    }
    if (failure instanceof RuntimeException e) {
      throw e;
    }
    if (failure instanceof Error e) {
      throw e;
    }
    return names;
  }

  /** About how many names there are of each space: by the bytes of their rows. */
  private long[] names(int spaces) {
    List<Slice> ends = new ArrayList<>();
    List<Range> ranges = new ArrayList<>();
    for (int space = 0; space <= spaces; space++) {
      ends.add(new Slice(NameRow.firstOf(space)));
    }
    for (int space = 0; space < spaces; space++) {
      ranges.add(new Range(ends.get(space), ends.get(space + 1)));
    }
    long[] names = db.getApproximateSizes(ranges, SizeApproximationFlag.INCLUDE_FILES);
    ends.forEach(Slice::close);
    double bytes = Math.max(1, Arrays.stream(names).sum());
    for (int space = 0; space < spaces; space++) {
      names[space] = (long) (header.names() * (names[space] / bytes));
    }
    return names;
  }

  /** Nobody may close the database while somebody reads it: native code would crash. */
  private static void end(Thread reader) {
    boolean interrupted = false;
    reader.interrupt();
    while (reader.isAlive()) {
      try {
        reader.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** The reading thread; the last batch it hands over is empty. */
  private void readNames() {
    try {
      NameBatch last = readNames(empty.take());
      if (last.size() > 0) {
        full.put(last);
        last = empty.take();
      }
      full.put(last);
    } catch (RocksDBException | RuntimeException | Error e) {
      failure = e;
      endEarly();
    } catch (InterruptedException e) {
      // Whoever waited for it has given up.
    }
  }

  private void endEarly() {
    try {
      NameBatch nothing = empty.take();
      nothing.clear();
      full.put(nothing);
    } catch (InterruptedException e) {
      // Whoever waited for it has given up.
    }
  }

  private NameBatch readNames(NameBatch first) throws RocksDBException, InterruptedException {
    NameBatch batch = first;
    ByteBuffer key = ByteBuffer.allocateDirect(NameRow.KEY_LENGTH + 1);
    ByteBuffer value = ByteBuffer.allocateDirect(VALUE_BYTES);
    try (ReadOptions options =
            new ReadOptions().setReadaheadSize(READ_AHEAD_BYTES).setFillCache(false);
        Slice end = new Slice(new byte[] {NameRow.KIND + 1});
        ReadOptions bounded = options.setIterateUpperBound(end);
        RocksIterator rows = db.newIterator(bounded)) {
      for (rows.seek(new byte[] {NameRow.KIND}); rows.isValid(); rows.next()) {
        if (batch.isFull()) {
          full.put(batch);
          batch = empty.take();
        }
        rows.key(key.clear());
        int length = rows.value(value.clear());
        if (length > value.capacity()) {
          value = ByteBuffer.allocateDirect(2 * length);
          rows.value(value);
        }
        NameRow.read(key, value, batch);
      }
      rows.status();
    }
    return batch;
  }
}
