// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import io.kvindex.model.event.MalformedRecordException;
import io.kvindex.streams.checkpoint.CheckpointRefusedException.Reason;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.NameBatch;
import io.kvindex.streams.index.Restoring;
import java.io.IOException;
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

  private static final int BATCHES = 16;

  private final StoredRows rows;
  private final String threadName;
  private final BlockingQueue<NameBatch> full = new ArrayBlockingQueue<>(BATCHES + 1);
  private final BlockingQueue<NameBatch> empty = new ArrayBlockingQueue<>(BATCHES + 1);

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
      empty.add(restoring.newBatch());
    }
    FutureTask<Boolean> reading = new FutureTask<>(this::readNames);
    Thread reader = new Thread(reading, threadName);
    reader.setDaemon(true);
    reader.start();
    long names = 0;
    try {
      for (NameBatch batch = full.take(); batch.size() > 0; batch = full.take()) {
        restoring.insert(batch);
        names += batch.size();
        batch.clear();
        empty.put(batch);
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
  private boolean readNames() throws RocksDBException, InterruptedException {
    NameBatch[] batch = {empty.take()};
    boolean whole = false;
    try {
      rows.<InterruptedException>names(
          () -> {
            if (batch[0].isFull()) {
              full.put(batch[0]);
              batch[0] = empty.take();
            }
            return batch[0];
          });
      if (batch[0].size() > 0) {
        full.put(batch[0]);
        batch[0] = empty.take();
      }
      whole = true;
    } finally {
      if (!whole) {
        batch[0].clear();
      }
      full.put(batch[0]);
    }
    return whole;
  }
}
