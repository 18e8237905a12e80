// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.testing.chaos.ChaosOptions.Oddities;
import io.kvindex.testing.chaos.ChaosOptions.Shape;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The chaos suite with everything in it, for one seed and as briefly as its counts allow. */
@Tag("broker")
class ChaosIT {

  private static final long SEED = Long.getLong("kvindex.test.seed", System.nanoTime() >>> 20);
  private static final double MINUTES =
      Double.parseDouble(System.getProperty("kvindex.test.minutes", "0.1"));

  @TempDir private Path directory;

  @Test
  @Timeout(900)
  void shouldBeRightAlways_whenEverythingGoesWrong() throws InterruptedException {
    Duration time = Duration.ofMillis((long) (MINUTES * 60_000));
    ChaosOptions options = new ChaosOptions(SEED, time, directory, Shape.FULL, Oddities.ALL, true);
    assertThat(new ChaosRun(options, new PrintWriter(System.out, true)).run().first())
        .as("seed " + SEED)
        .isEmpty();
  }
}
