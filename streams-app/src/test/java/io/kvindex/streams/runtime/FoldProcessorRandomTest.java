// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.sandbox.TestSeed;
import io.kvindex.streams.view.PartitionView;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.streams.errors.LockException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A log that grows, loses its beginning and its end, and a consumer that is moved, at random: each
 * offset is folded once or told as missing, and what was folded is what the log has.
 */
@Timeout(60)
class FoldProcessorRandomTest {

  private static final int STEPS = 4_000;
  private static final String MISSED = "missed";

  @TempDir private Path dir;
  private final long seed = TestSeed.of(FoldProcessorRandomTest.class);
  private final Random random = new Random(seed);
  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();

  /** Records by offset; those before {@link #start} are deleted. */
  private final List<String> log = new ArrayList<>();

  private int start;
  private int position;
  private int written;
  private int lostEnds;

  /** What the table has by offset, now and at its last checkpoint. */
  private TreeMap<Long, String> folded = new TreeMap<>();

  private TreeMap<Long, String> disk = new TreeMap<>();
  private boolean failsNext;

  private final ProcessTables tables =
      new ProcessTables(1, 1, () -> Uuid.ONE_UUID, this::load, metrics, Duration.ZERO);
  private final TableStore store = new TableStore.Builder("log", tables).build();
  private final FoldProcessor processor =
      new FoldProcessor(
          "log",
          tables,
          (partition, offset) -> position = offset < 0 ? start : (int) offset,
          () -> {});
  private @Nullable MockProcessorContext<Void, Void> context;

  /** As an indexer would: its own checkpoint, as long as it may be of this log. */
  private FoldedTable load(int partition, Uuid topicId, @Nullable Refusal before) {
    if (before != null && before.cause() == Refusal.Cause.LOG_LOST_END) {
      lostEnds++;
      if (!disk.isEmpty() && disk.lastKey() >= before.offset()) {
        disk = new TreeMap<>();
      }
    }
    folded = new TreeMap<>(disk);
    return new Table();
  }

  private final class Table implements FoldedTable {
    private long sum;

    private Table() {
      if (foldedOffset() >= 0) {
        long last = foldedOffset();
        sum = sum(last, Objects.requireNonNull(folded.get(last)));
      }
    }

    @Override
    public long foldedOffset() {
      return folded.isEmpty() ? -1 : folded.lastKey();
    }

    @Override
    public long foldedSum() {
      return sum;
    }

    @Override
    public void fold(
        long offset, long timestampMs, byte @Nullable [] key, byte @Nullable [] value, long of) {
      if (failsNext) {
        failsNext = false;
        throw new IllegalStateException("bomb");
      }
      String text = new String(Objects.requireNonNull(value), StandardCharsets.UTF_8);
      assertThat(folded.put(offset, text)).as("offset " + offset).isNull();
      sum = of;
      if (random.nextInt(10) == 0) {
        disk = new TreeMap<>(folded);
      }
    }

    @Override
    public void missed(long from, long to) {
      assertThat(to).isLessThan(start);
      for (long offset = from; offset <= to; offset++) {
        assertThat(folded.put(offset, MISSED)).as("offset " + offset).isNull();
      }
    }

    @Override
    public PartitionView view() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void idle() {}

    @Override
    public void close() {}

    @Override
    public void abandon() {}
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static long sum(long offset, String value) {
    return RecordSum.of(offset, null, bytes(value));
  }

  private void makeTask() {
    Properties config = new Properties();
    config.put("application.id", "test");
    config.put("bootstrap.servers", "h:1");
    MockProcessorContext<Void, Void> made =
        new MockProcessorContext<>(config, new TaskId(0, 0), dir.toFile());
    made.addStateStore(store);
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(1))
        .ignoreException(LockException.class)
        .until(
            () -> {
              store.init(made.getStateStoreContext(), store);
              return true;
            });
    context = made;
    processor.init(made);
  }

  private void makeTaskAgain() {
    processor.close();
    store.close();
    makeTask();
  }

  /** Takes one record as a consumer would; false = there is none. */
  private boolean read() {
    if (position > log.size() || position < start) {
      position = start; // auto.offset.reset=earliest
    }
    if (position == log.size()) {
      return false;
    }
    int offset = position++;
    Objects.requireNonNull(context).setRecordMetadata("log", 0, offset);
    try {
      processor.process(new Record<>(null, bytes(log.get(offset)), offset));
    } catch (TaskCorruptedException e) {
      makeTaskAgain();
    }
    return true;
  }

  private void append(int records) {
    for (int i = 0; i < records; i++) {
      log.add("record " + written++);
    }
  }

  private void readAll() {
    int reads = 0;
    while (read()) {
      assertThat(reads++).as("reads without an end").isLessThan(20 * log.size() + 100);
    }
  }

  /** Reads what is there and one more, which shows what a silent log does not. */
  private void check() {
    readAll();
    append(1);
    readAll();
    assertThat(folded.keySet()).hasSize(log.size());
    assertThat(folded.lastKey()).isEqualTo(log.size() - 1L);
    folded.forEach(
        (offset, value) -> {
          if (offset >= start) {
            assertThat(value).as("offset " + offset).isEqualTo(log.get(offset.intValue()));
          }
        });
  }

  @Test
  void shouldHaveWhatTheLogHas_whateverBecomesOfIt() {
    makeTask();
    for (int step = 0; step < STEPS; step++) {
      int what = random.nextInt(100);
      if (what < 40) {
        append(random.nextInt(4));
      } else if (what < 80) {
        read();
      } else if (what < 85) {
        makeTaskAgain();
      } else if (what < 88) {
        failsNext = true;
      } else if (what < 92) {
        start += random.nextInt(Math.min(8, log.size() - start + 1));
      } else if (what < 95) {
        moveConsumer();
      } else if (what < 97) {
        loseEnd();
      } else {
        check();
      }
    }
    check();
    System.out.println(
        "records "
            + log.size()
            + " of "
            + written
            + ", lost ends noticed "
            + lostEnds
            + ", doubts "
            + metrics.counter("kvindex.log.doubts").count());
    assertThat(lostEnds).isPositive();
    store.close();
    tables.close();
  }

  /** Of a task that runs; where it begins, the seek stands. */
  private void moveConsumer() {
    readAll();
    append(1);
    readAll();
    append(random.nextInt(5));
    position = Math.max(start, Math.min(log.size(), position - 5 + random.nextInt(11)));
  }

  /**
   * An unclean election. A consumer that reads notices, and is moved to where the logs part; if all
   * that the table has was deleted before it is read again, nobody can tell, so that waits.
   */
  private void loseEnd() {
    int left = start + random.nextInt(log.size() - start + 1);
    if (log.size() - left > 6) {
      left = log.size() - random.nextInt(6);
    }
    int had = log.size();
    log.subList(left, had).clear();
    if (position > left) {
      position = random.nextBoolean() ? left : start;
    }
    append(random.nextInt(3));
    readAll();
    append(Math.max(0, had - log.size()) + 1);
    check();
  }
}
