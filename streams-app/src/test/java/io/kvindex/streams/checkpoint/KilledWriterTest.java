// SPDX-License-Identifier: Apache-2.0
package io.kvindex.streams.checkpoint;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.kvindex.streams.index.Blocks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whenever the process is killed, the last checkpoint it told of is there as a whole, or the next.
 */
class KilledWriterTest {

  private static final int KILLS = Integer.getInteger("kvindex.test.kills", 10);
  private static final int LONGEST_MS = 400;
  private static final int RECORDS = 300;

  @TempDir private Path directory;

  @Test
  void shouldFindAWholeCheckpoint_whenItsWriterWasKilledAtAnyInstant() throws Exception {
    long seed = Long.getLong("kvindex.test.seed", System.nanoTime());
    System.out.println("KilledWriterTest seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    RandomTable reference = new RandomTable(seed, WritingProcess.HASHES, RandomTable.newBlocks());
    int inTheMiddle = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      long told = runAndKill(seed, random.nextInt(LONGEST_MS));
      try (Checkpoint checkpoint =
          Checkpoint.open(
              directory.resolve("rows"), WritingProcess.TOPIC, WritingProcess.PARTITION)) {
        Blocks blocks = RandomTable.newBlocks();
        RandomTable found = new RandomTable(seed, WritingProcess.HASHES, blocks);
        Header header = checkpoint.load(blocks, found, Progress.NONE);
        long offset = header == null ? -1 : header.folded().offset();
        assertThat(offset).isEqualTo(found.offset()).isGreaterThanOrEqualTo(told);
        reference.foldTo(offset, t -> {});
        assertThat(found.differences(reference)).as("seed %d kill %d", seed, kill).isEmpty();
        inTheMiddle += offset > told ? 1 : 0;
      }
    }
    System.out.println(
        (reference.offset() + 1)
            + " records, "
            + inTheMiddle
            + " checkpoints were there, not told");
  }

  /** The offset of the last checkpoint it told of. */
  private long runAndKill(long seed, int afterMs) throws IOException, InterruptedException {
    Path told = directory.resolve("out");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-Xmx256m",
                    "-cp",
                    System.getProperty("java.class.path"),
                    WritingProcess.class.getName(),
                    directory.resolve("rows").toString(),
                    Long.toString(seed),
                    Integer.toString(RECORDS)))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .redirectOutput(told.toFile())
            .start();
    try {
      await().atMost(60, SECONDS).until(() -> Files.size(told) > 0);
      // Not a wait for anything: when it is killed is what is random.
      process.waitFor(afterMs, MILLISECONDS);
    } finally {
      process.destroyForcibly().waitFor();
    }
    // What is behind the last end of a line was cut off.
    String lines = Files.readString(told);
    String[] whole = lines.substring(0, lines.lastIndexOf('\n')).split("[ \n]", -1);
    return Long.parseLong(whole[whole.length - 1]);
  }
}
