// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.model.event.EventRecord;
import io.kvindex.model.event.EventRecordCodec;
import io.kvindex.model.event.KvEvent;
import io.kvindex.sandbox.TestSeed;
import io.kvindex.streams.checkpoint.Checkpoint;
import io.kvindex.streams.checkpoint.MadeUpFormer;
import io.kvindex.streams.checkpoint.Replacement;
import io.kvindex.streams.fixture.CheckpointedIndex;
import io.kvindex.streams.fixture.RoughLog;
import io.kvindex.streams.fixture.RoughLog.Taken;
import io.kvindex.streams.fold.Outcome;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Copies killed at random instants, and losses of power, against a fold that never stopped. How
 * many: property {@code kvindex.test.kills}; how many operations on blocks follow: {@code
 * kvindex.test.operations}.
 */
@Timeout(value = 60, unit = TimeUnit.MINUTES)
class KilledCopyTest {

  private static final int KILLS = Integer.getInteger("kvindex.test.kills", 10);
  private static final int OPERATIONS = Integer.getInteger("kvindex.test.operations", 50_000);
  private static final long SEED = TestSeed.of(KilledCopyTest.class);
  private static final int PROMPTS = 1_000;
  private static final int CALM = 40;

  /** Records a process finds in the log. */
  private static final int AHEAD = 4_000;

  private static final int STAGES = 4;
  private static final Set<String> PHASES = Set.of("starts", "borrows", "loads", "folds");

  /** What is killed, and when. */
  private enum Kill {
    /** Hardly any checkpoint is under way. */
    FOLD("folds", 400, 1_000_000, 60),
    /** There nearly always is one. */
    CHECKPOINT("folds", 400, 50, 1),
    /** Bytes that are not synced are lost. */
    POWER("folds", 400, 200, 5),
    /** Every other time what it has is of the layout before. */
    START("starts", 800, 200, 5),
    /** Its disk was lost; every other time what is lent is of the layout before. */
    BORROWING("borrows", 600, 200, 5);

    final String says;
    final int withinMs;
    final int changes;
    final int intervalMs;

    Kill(String says, int withinMs, int changes, int intervalMs) {
      this.says = says;
      this.withinMs = withinMs;
      this.changes = changes;
      this.intervalMs = intervalMs;
    }
  }

  /**
   * A record that the reference has not folded.
   *
   * @param position in the file
   */
  private record Entry(long offset, long position, Taken taken) {}

  @TempDir private Path dir;
  private final SplittableRandom random = new SplittableRandom(SEED);
  private final RoughLog source = new RoughLog(SEED, PROMPTS, CALM);
  private final ArrayDeque<Entry> ahead = new ArrayDeque<>();
  private final TreeMap<String, Integer> seen = new TreeMap<>();
  private final CheckpointedIndex reference = CheckpointedIndex.inMemory(KilledCopy.LIMITS);
  private Path own;
  private Path backup;
  private Path kept;
  private Path log;
  private long generated;
  private long operations;

  @BeforeEach
  void begin() throws Exception {
    MadeUpFormer.begin();
    own = Files.createDirectories(dir.resolve("tables")).resolve("0");
    backup = Files.createDirectories(dir.resolve("backup"));
    kept = own.resolveSibling("kept");
    log = Files.createFile(dir.resolve("log"));
    CheckpointedIndex.open(own, KilledCopy.LIMITS).kill();
  }

  @AfterEach
  void end() {
    MadeUpFormer.end();
  }

  @Test
  void shouldEqualAFoldThatNeverStopped_whenKilledAtAnyInstant() throws Exception {
    for (int n = 0; n < KILLS; n++) {
      kill(Kill.values()[n % Kill.values().length], n);
    }
    CheckpointedIndex table = Files.exists(own) ? open() : restored();
    for (int stage = 1; stage <= STAGES; stage++) {
      while (operations < (long) OPERATIONS * stage / STAGES) {
        Entry entry = next();
        tell(table, entry);
        tell(reference, entry);
      }
      assertEqual(table, "after " + operations + " operations more");
      table.close();
      table = open();
    }
    assertEqual(table, "closed and opened");
    table.kill();
    System.out.printf(
        "%d kills, %d records, %d operations after the last one, %d lines: %s%n",
        KILLS, reference.next(), operations, reference.dump().size(), seen);
    for (Outcome limit : List.of(Outcome.ORPHAN_LIMIT, Outcome.CONTEXT_LIMIT, Outcome.GAP)) {
      assertThat(reference.counts().of(limit)).as("%s, seed %d", limit, SEED).isPositive();
    }
    assertThat(seen.getOrDefault("went on", 0)).isGreaterThan(KILLS / 10);
  }

  private void kill(Kill kill, int n) throws Exception {
    boolean former = kill.ordinal() >= Kill.START.ordinal() && n / Kill.values().length % 2 == 1;
    prepare(kill, former);
    List<String> said = run(kill);
    String last = last(said, PHASES::contains);
    count(kill + (former ? " former" : "") + " while it " + last);
    if (kill == Kill.POWER) {
      loseUnsynced(said);
    }
    Replacement.delete(kept);
    Replacement.settle(own);
    try (Stream<Path> files = Files.list(dir.resolve("tables"))) {
      assertThat(files.filter(file -> !file.equals(own))).as("left over").isEmpty();
    }
    if (!Files.exists(own)) {
      assertThat(said).as("seed %d kill %d", SEED, n).contains("borrows");
      return;
    }
    CheckpointedIndex table = open();
    assertThat(table.next())
        .as("seed %d kill %d", SEED, n)
        .isGreaterThanOrEqualTo(reference.next());
    if (table.next() > reference.next()) {
      count("went on");
    }
    while (reference.next() < table.next()) {
      tell(reference, ahead.remove());
    }
    assertEqual(table, "kill " + n + " " + kill + " " + last);
    table.kill();
  }

  private void count(String what) {
    seen.merge(what, 1, Integer::sum);
  }

  private CheckpointedIndex open() {
    return CheckpointedIndex.open(own, KilledCopy.LIMITS);
  }

  /** Where the last one was killed while it borrowed. */
  private CheckpointedIndex restored() throws IOException {
    Files.move(backup.resolve("0"), own);
    return open();
  }

  private void assertEqual(CheckpointedIndex table, String when) {
    List<String> mine = table.dump();
    List<String> theirs = reference.dump();
    Set<String> here = new HashSet<>(mine);
    Set<String> there = new HashSet<>(theirs);
    List<String> differences = new ArrayList<>();
    mine.stream().filter(line -> !there.contains(line)).forEach(l -> differences.add("here " + l));
    theirs.stream()
        .filter(line -> !here.contains(line))
        .forEach(l -> differences.add("there " + l));
    assertThat(differences.stream().limit(20)).as("seed %d, %s", SEED, when).isEmpty();
  }

  // ------------------------------------------------------------------- the log

  private Entry next() {
    return ahead.isEmpty() ? generate(-1) : ahead.remove();
  }

  private Entry generate(long position) {
    return new Entry(generated++, position, source.next());
  }

  /** Tells a table the record, if it is not missing. */
  private void tell(CheckpointedIndex table, Entry entry) {
    EventRecord event = entry.taken().event();
    if (event == null) {
      return;
    }
    if (entry.offset() > table.next()) {
      table.missUpTo(entry.offset());
    }
    table.take(event, entry.taken().ms());
    if (table == reference && ahead.isEmpty()) {
      operations += operations(event);
    }
  }

  private static long operations(EventRecord record) {
    long blocks = 0;
    for (KvEvent event : record.events()) {
      if (event instanceof KvEvent.Stored stored) {
        blocks += stored.engineHashes().size();
      } else if (event instanceof KvEvent.Removed removed) {
        blocks += removed.engineHashes().size();
      }
    }
    return blocks;
  }

  /** Writes on the file what the next process may fold. */
  private void writeAhead() throws IOException {
    long end = Files.size(log);
    try (FileChannel file = FileChannel.open(log, StandardOpenOption.WRITE)) {
      // The mark of the end is written over.
      end = end == 0 ? 0 : end - Integer.BYTES;
      file.position(end);
      DataOutputStream out =
          new DataOutputStream(new BufferedOutputStream(Channels.newOutputStream(file)));
      while (ahead.size() < AHEAD) {
        Entry entry = generate(end);
        ahead.add(entry);
        EventRecord event = entry.taken().event();
        byte[] bytes = event == null ? new byte[0] : EventRecordCodec.encode(event);
        out.writeInt(event == null ? KilledCopy.MISSING : bytes.length);
        out.writeLong(entry.taken().ms());
        out.write(bytes);
        end += Integer.BYTES + Long.BYTES + bytes.length;
      }
      out.writeInt(KilledCopy.MISSING - 1);
      out.flush();
    }
  }

  // ------------------------------------------------------------------- processes

  private void prepare(Kill kill, boolean former) throws Exception {
    writeAhead();
    Files.createDirectories(kept);
    if (!Files.exists(own) || reference.next() == 0) {
      return;
    }
    if (kill == Kill.BORROWING) {
      Path lent = backup.resolve("0");
      Replacement.delete(lent);
      try (Checkpoint checkpoint = Checkpoint.open(own, CheckpointedIndex.TOPIC, 0)) {
        checkpoint.lend(lent);
      }
      Replacement.delete(own);
      if (former) {
        MadeUpFormer.rewrite(lent);
      }
    } else if (kill == Kill.START && former) {
      MadeUpFormer.rewrite(own);
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** What it said until it was killed. */
  private List<String> run(Kill kill) throws Exception {
    Entry first = Objects.requireNonNull(ahead.peek());
    Path complaints = dir.resolve("complaints");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                KilledCopy.class.getName(),
                own.toString(),
                backup.toString(),
                log.toString(),
                Long.toString(first.position()),
                Long.toString(first.offset()),
                Integer.toString(kill.changes),
                Integer.toString(kill.intervalMs))
            .redirectError(complaints.toFile())
            .start();
    List<String> said = new ArrayList<>();
    try (BufferedReader out = process.inputReader()) {
      String line = "";
      while (line != null && !line.equals(kill.says) && !line.equals("folds")) {
        line = out.readLine();
        said.add(String.valueOf(line));
      }
      assertThat(line)
          .as(() -> "seed " + SEED + ": it ended by itself: " + said + text(complaints))
          .isNotNull();
      if (line.equals("folds")) {
        awaitCheckpoints(random.nextInt(3), out, said);
      }
      process.waitFor(random.nextInt(kill.withinMs), TimeUnit.MILLISECONDS);
      assertThat(process.isAlive())
          .as(() -> "seed " + SEED + ": it ended by itself: " + text(complaints))
          .isTrue();
      process.toHandle().destroyForcibly(); // the other way closes what it said
      process.waitFor();
      out.lines().forEach(said::add);
    } finally {
      process.destroyForcibly().waitFor();
    }
    return said;
  }

  /** Until so many are written, or the log ends: a slow machine kills nobody at once each time. */
  private static void awaitCheckpoints(int wanted, BufferedReader out, List<String> said)
      throws IOException {
    int written = 0;
    while (written < wanted) {
      String line = String.valueOf(out.readLine());
      said.add(line);
      if (line.startsWith("synced")) {
        written++;
      } else if (line.equals("ended") || line.equals("null")) {
        return;
      }
    }
  }

  /**
   * What a loss of power leaves: files are synced before the manifest names them, and the manifest
   * before the write returns. So behind what was said to be synced last the manifest may end
   * anywhere, in the middle of an entry, and files that it does not name may be anything, or gone.
   */
  private void loseUnsynced(List<String> said) throws IOException {
    String last = last(said, line -> line.startsWith("synced"));
    String[] synced = last.split(" ", -1);
    String manifest = Files.readString(own.resolve("CURRENT")).trim();
    if (synced.length < 4 || !synced[1].equals(manifest)) {
      count("POWER, nothing to lose");
      return;
    }
    long length = Long.parseLong(synced[2]);
    long whole = Files.size(own.resolve(manifest));
    long torn = whole == length ? 0 : random.nextLong(Math.min(whole - length, 16));
    cut(own.resolve(manifest), length + torn);
    count(whole == length ? "POWER, no entry lost" : "POWER, entries lost");
    Set<String> known = Set.of(synced[3].split(","));
    try (Stream<Path> files = Files.list(own)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (name.endsWith(".sst") && !known.contains(name) || name.endsWith(".log")) {
          if (random.nextBoolean()) {
            cut(file, random.nextLong(Files.size(file) + 1));
          } else {
            Files.delete(file);
          }
        }
      }
    }
    for (String name : known) {
      if (!Files.exists(own.resolve(name)) && Files.exists(kept.resolve(name))) {
        Files.copy(kept.resolve(name), own.resolve(name)); // deleted after that only
      }
    }
  }

  private static String last(List<String> said, Predicate<String> which) {
    return said.stream().filter(which).reduce((first, second) -> second).orElse("");
  }

  private static void cut(Path file, long length) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    }
  }
}
