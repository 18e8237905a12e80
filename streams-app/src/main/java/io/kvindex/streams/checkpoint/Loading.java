// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.streams.checkpoint.CheckpointRefusedException.Reason;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.NameRow;
import io.kvindex.streams.index.Restoring;
import java.io.IOException;
import java.util.Arrays;
import java.util.SortedMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import org.apache.kafka.common.utils.Bytes;
import org.rocksdb.RocksDBException;

/**
 * Loads a table: a thread of its own reads rows, the caller's puts names into memory, and each
 * takes about the same time.
 */
final class Loading {

  private static final int BATCHES = 8;

  /** Names handed over together. */
  private static final class Batch {
    static final int SIZE = 512;
    final NameRow[] names;
    int size;

    Batch(int room) {
      names = new NameRow[room];
      Arrays.setAll(names, i -> new NameRow());
    }
  }

  private final StoredRows rows;
  private final String threadName;

  // Both have room for all there are, the last one, which is empty, included.
  private final BlockingQueue<Batch> full = new ArrayBlockingQueue<>(BATCHES + 1);
  private final BlockingQueue<Batch> empty = new ArrayBlockingQueue<>(BATCHES + 1);

  Loading(StoredRows rows, String threadName) {
    this.rows = rows;
    this.threadName = threadName;
  }

  void load(Blocks blocks, Consumer<SortedMap<Bytes, byte[]>> dictionary, Progress progress)
      throws CheckpointRefusedException, IOException, InterruptedException {
    Header header = rows.header();
    try {
      dictionary.accept(rows.dictionary());
      long names = loadNames(blocks.restore(header.state()), progress);
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

  private long loadNames(Restoring restoring, Progress progress)
      throws RocksDBException, IOException, InterruptedException {
    restoring.expect(rows.namesOf(restoring.spaces()));
    for (int i = 0; i < BATCHES; i++) {
      empty.add(new Batch(Batch.SIZE));
    }
    FutureTask<Boolean> reading = new FutureTask<>(() -> readNames(restoring));
    Thread reader = new Thread(reading, threadName);
    reader.setDaemon(true);
    reader.start();
    long names = 0;
    try {
      for (Batch batch = full.take(); batch.size > 0; batch = full.take()) {
        restoring.insert(batch.names, batch.size);
        names += batch.size;
        batch.size = 0;
        empty.add(batch);
        progress.at(names, rows.header().names());
      }
      reading.get();
      return names;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RocksDBException unread) {
        throw unread;
      }
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw e.getCause() instanceof RuntimeException bad ? bad : new IllegalStateException(e);
    } finally {
      end(reader);
    }
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

  /** The reading thread; the last batch it hands over is empty, whatever ended it. */
  private boolean readNames(Restoring restoring) throws RocksDBException, InterruptedException {
    try (StoredRows.Names names = rows.names()) {
      Batch batch = empty.take();
      while (names.next(batch.names[batch.size])) {
        restoring.resolve(batch.names[batch.size++]);
        if (batch.size == Batch.SIZE) {
          full.add(batch);
          batch = empty.take();
        }
      }
      if (batch.size > 0) {
        full.add(batch);
      }
      return true;
    } finally {
      full.add(new Batch(0));
    }
  }
}
