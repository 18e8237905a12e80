// SPDX-License-Identifier: Apache-2.0
package io.kvindex.sandbox.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process with a broker that ends without a word. By itself: it takes as long as all others. */
@Timeout(120)
class KilledBrokerTest {
  @TempDir Path dir;

  @Test
  void shouldKeepAckedRecordsAndStartQuickly_whenKilled() throws Exception {
    Path killed = dir.resolve("killed");
    Process child = BrokerProcess.start(killed);
    int lastAcked = -1;
    try (BufferedReader out = child.inputReader()) {
      String line;
      while (lastAcked < 200 && (line = out.readLine()) != null) {
        lastAcked = line.startsWith("acked ") ? Integer.parseInt(line.substring(6)) : lastAcked;
      }
    } finally {
      child.destroyForcibly().waitFor();
    }
    assertThat(lastAcked).isEqualTo(200);

    long cleanMs = startAndStop(dir.resolve("cold"), 2);
    long startNs = System.nanoTime();
    try (EmbeddedBroker broker = EmbeddedBroker.start(killed)) {
      long startMs = (System.nanoTime() - startNs) / 1_000_000;
      System.out.println("start after kill -9: " + startMs + " ms, clean: " + cleanMs + " ms");
      List<Integer> read = BrokerClient.readAll(broker.bootstrapServers(), BrokerProcess.TOPIC);
      assertThat(read).hasSizeGreaterThan(lastAcked);
      assertThat(read).isEqualTo(IntStream.range(0, read.size()).boxed().toList());
      // Idle: 1.7 s against 0.2 s; with Kafka's own broker session it would be 11 s and more. The
      // clean start says how busy the machine is.
      assertThat(startMs).isLessThan(5_000 + 10 * cleanMs);
    }
  }

  /** How long the last of several clean starts took, milliseconds. */
  private static long startAndStop(Path dataDir, int times) {
    long startMs = 0;
    for (int i = 0; i < times; i++) {
      long startNs = System.nanoTime();
      try (EmbeddedBroker broker = EmbeddedBroker.start(dataDir)) {
        startMs = (System.nanoTime() - startNs) / 1_000_000;
        assertThat(broker.bootstrapServers()).isNotEmpty();
      }
    }
    return startMs;
  }
}
