// SPDX-License-Identifier: Apache-2.0
package io.kvindex.benchmarks;

import io.kvindex.model.Incarnation;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.CheckpointThread;
import io.kvindex.streams.checkpoint.Folded;
import io.kvindex.streams.checkpoint.Header;
import io.kvindex.streams.checkpoint.JournalLimits;
import io.kvindex.streams.checkpoint.Progress;
import io.kvindex.streams.index.Blocks;
import io.kvindex.streams.index.Epochs;
import io.kvindex.streams.index.Holder;
import io.kvindex.streams.index.Journal;
import io.kvindex.streams.index.Owner;
import io.kvindex.streams.index.PrefixIndex;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Bytes;

/**
 * Blocks in memory with a checkpoint behind them, without a log and its rules: what writing rows
 * costs, how long a start takes, what a name takes in memory.
 */
public final class CheckpointLoad {

  private static final Uuid TOPIC = new Uuid(1, 1);
  private static final int RUN = 16;
  private static final int UNHELD = 100_000;

  /** What engines make of a block. */
  private enum Shape {
    /** All that hold it call it the same. */
    SHARED,
    /** Each calls it by a name of its own. */
    OWN_NAMES,
    /** One name, two attention groups, of which the second has half the blocks. */
    TWO_GROUPS
  }

  private final Path directory;
  private final int owners;
  private final Shape shape;
  private final Blocks blocks = new Blocks(new Epochs(), Journal.none());
  private final PrefixIndex index = blocks.addTable(0);
  private final List<Holder> holders = new ArrayList<>();
  private final Journal.Pieces pieces = new Journal.Pieces();

  private CheckpointLoad(Path directory, int owners, Shape shape) {
    this.directory = directory;
    this.owners = owners;
    this.shape = shape;
    blocks.addSpace(0, 0, false, 0);
    for (int i = 0; i < owners; i++) {
      Owner owner =
          new Owner("t", "engine-" + i, 0, 0, "GPU", false, null, new Incarnation(1, 1, 0));
      Holder holder = blocks.addHolder(0, i, owner);
      if (shape == Shape.TWO_GROUPS) {
        blocks.addGroup(holder, 0, 1);
      }
      holders.add(holder);
    }
  }

  /**
   * @param args fill or load; directory, which must not exist for fill; blocks; owners; changes of
   *     a journal; {@link Shape}
   */
  public static void main(String[] args) throws Exception {
    int owners = args.length > 3 ? Integer.parseInt(args[3]) : 1;
    long before = heap();
    Shape shape = args.length > 5 ? Shape.valueOf(args[5]) : Shape.SHARED;
    CheckpointLoad load = new CheckpointLoad(Path.of(args[1]), owners, shape);
    if (args[0].equals("fill")) {
      load.fill(Long.parseLong(args[2]), args.length > 4 ? Integer.parseInt(args[4]) : 500_000);
    } else {
      load.load();
    }
    long names = load.blocks.names();
    long held = heap() - before;
    System.out.printf(
        Locale.ROOT,
        "heap %.1f B a block, %.1f B a name (names %.1f, index %.1f by their own count), VmHWM %d MB%n",
        (double) held / load.index.figures().blocks(),
        (double) held / names,
        (double) load.blocks.bytes() / names,
        (double) load.index.figures().bytes() / names,
        peak());
  }

  private void fill(long names, int changes) throws Exception {
    Checkpoint checkpoint = Checkpoint.open(directory, TOPIC, 0);
    SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    LongAdder writingNs = new LongAdder();
    LongAdder journalled = new LongAdder();
    CheckpointThread behind =
        new CheckpointThread(
            0,
            blocks,
            Folded.NOTHING,
            (journal, upTo) -> {
              long start = System.nanoTime();
              int rows = checkpoint.write(journal, upTo);
              writingNs.add(System.nanoTime() - start);
              journalled.add(journal.size());
              return rows;
            },
            pieces,
            new JournalLimits(changes, Duration.ofSeconds(10), Duration.ofMinutes(5)),
            metrics);
    SplittableRandom random = new SplittableRandom(1);
    long began = System.nanoTime();
    long cpu = cpu();
    long ownCpu = ownCpu();
    long longest = 0;
    long stores = 0;
    long offset = -1;
    double worst = 0;
    long[] hashes = new long[RUN];
    for (long name = 0; name < names; name += RUN) {
      long who = owners == 1 ? 1 : random.nextLong() & -1L >>> 64 - owners;
      who = who == 0 ? 1 : who;
      for (int i = 0; i < RUN; i++) {
        long parent = i == 0 ? 0 : hashes[i - 1];
        long key = random.nextLong();
        long local = random.nextLong();
        hashes[i] = random.nextLong();
        blocks.teach(0, hashes[i], key, 0, i, local, parent, true);
        for (long left = who; left != 0; left &= left - 1) {
          Holder holder = holders.get(Long.numberOfTrailingZeros(left));
          if (shape == Shape.OWN_NAMES && left != who) {
            blocks.teach(0, random.nextLong(), key, 0, i, local, parent, true);
          }
          store(holder, (name + i) % 2 == 0);
          stores++;
        }
      }
      offset++;
      blocks.trim(UNHELD);
      blocks
          .journal()
          .put(Bytes.wrap(new byte[] {'S'}), ByteBuffer.allocate(8).putLong(offset).array());
      long now = System.nanoTime();
      behind.maybeSwap(offset, offset, 0);
      longest = Math.max(longest, System.nanoTime() - now);
      if (offset % 1000 == 0 && 2 * name > names) {
        double bytes = (double) blocks.bytes() + index.figures().bytes();
        worst = Math.max(worst, bytes / blocks.names());
      }
    }
    double seconds = (System.nanoTime() - began) / 1e9;
    System.out.printf(
        Locale.ROOT, "at most %.1f B a name by their own count in the second half%n", worst);
    long closing = System.nanoTime();
    behind.close(offset, offset, 0);
    double rows = metrics.counter("kvindex.checkpoint.rows").count();
    System.out.printf(
        Locale.ROOT,
        "%,d names, %,d stores in %.1f s: %,.0f stores/s; CPU a store %d ns, %d of it the fold's; "
            + "longest swap or wait %.1f ms, waited %.2f s; last checkpoint %.2f s%n",
        blocks.names(),
        stores,
        seconds,
        stores / seconds,
        (cpu() - cpu) / stores,
        (ownCpu() - ownCpu) / stores,
        longest / 1e6,
        metrics.counter("kvindex.checkpoint.wait.seconds").count(),
        (System.nanoTime() - closing) / 1e9);
    System.out.printf(
        Locale.ROOT,
        "%.0f checkpoints, %,d changes, %,.0f rows, %.0f ns a row; %.1f B a name on disk%n",
        metrics.counter("kvindex.checkpoints").count(),
        journalled.sum(),
        rows,
        writingNs.sum() / rows,
        (double) checkpoint.bytes() / blocks.names());
    checkpoint.close();
  }

  private void store(Holder holder, boolean evicted) {
    if (shape != Shape.TWO_GROUPS) {
      blocks.setCopies(holder, 0, 1, 1, 0);
      return;
    }
    blocks.setCopies(holder, 0, 0b11, 1, 0);
    blocks.setCopies(holder, 1, 0b11, 1, 0);
    if (evicted) {
      blocks.setCopies(holder, 1, 0b11, 0, 0);
    }
  }

  private void load() throws Exception {
    long began = System.nanoTime();
    long cpu = cpu();
    long ownCpu = ownCpu();
    try (Checkpoint checkpoint = Checkpoint.open(directory, TOPIC, 0)) {
      long opened = System.nanoTime();
      // Tables, spaces and holders are there by now.
      Header header = checkpoint.load(blocks, rows -> {}, Progress.NONE);
      long ended = System.nanoTime();
      System.out.printf(
          Locale.ROOT,
          "%,d names to offset %d in %.2f s (opened in %.2f): %,.0f/s; CPU %.2f s, %.2f of it inserting%n",
          blocks.names(),
          header == null ? -1 : header.folded().offset(),
          (ended - began) / 1e9,
          (opened - began) / 1e9,
          blocks.names() * 1e9 / (ended - began),
          (cpu() - cpu) / 1e9,
          (ownCpu() - ownCpu) / 1e9);
    }
  }

  private static long cpu() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  private static long ownCpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static long heap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static long peak() throws java.io.IOException {
    return java.nio.file.Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("VmHWM"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) >> 10)
        .findAny()
        .orElse(0);
  }
}
