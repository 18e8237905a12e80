// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvindex.launcher.e2e.ChildProgram;
import io.kvindex.model.chaos.Protection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The suite would notice: each protection left out makes it fail, and nothing left out does not.
 * Each run is a JVM of its own, since a process goes without a protection from its start.
 */
@Tag("broker")
class ChaosProtectionIT {

  private static final int SEED = 1;

  /** The first word of a finding about an answer. */
  private static final String ENGINE = "((vllm|sglang)-[a-z]+|silent)";

  /** The one that records are written ahead of their turn for. */
  private static final String EARLY_ENGINE = "vllm-map";

  /** Meanwhile, or in the comparison at the end. */
  private static final String PROMISED = "( is said to hold .*|, .*: answered .*, truth .*)";

  private static final int WRONG_ANSWERS = 1;
  private static final long SECONDS = 200;

  @TempDir private Path directory;

  @ParameterizedTest
  @EnumSource
  @Timeout(300)
  void shouldFail_whenAProtectionIsLeftOut(Protection protection) throws Exception {
    assertThat(run(protection.wireName())).as(findings()).isEqualTo(WRONG_ANSWERS);
    assertThat(output()).contains("verdict: ").contains(" FAILURES");
    assertThat(output().lines().map(String::strip))
        .as("findings that only this protection's absence explains")
        .anyMatch(expected(protection));
  }

  /**
   * What must be found, line by line; that the suite itself could not do something (no early
   * record, a registration not taken, not all visible) names no answer and so never counts.
   */
  private static Predicate<String> expected(Protection protection) {
    String finding =
        switch (protection) {
          case FENCING, TOMBSTONE -> "GHOST: " + ENGINE + PROMISED;
          case HOLD_BACK -> "(GHOST|WRONG): " + EARLY_ENGINE + PROMISED;
          case REPAIR, DEDUPE -> "(GHOST|WRONG): " + ENGINE + PROMISED;
        };
    return Pattern.compile(finding).asMatchPredicate();
  }

  @Test
  @Timeout(300)
  void shouldPass_whenNothingIsLeftOut() throws Exception {
    assertThat(run("")).as(findings()).isZero();
    assertThat(output()).contains("verdict: right, always");
  }

  private int run(String without) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx1g", "-D" + Protection.PROPERTY + "=" + without));
    command.addAll(ChildProgram.options(System.getProperty("java.class.path")));
    command.addAll(
        List.of(
            "io.kvindex.testing.Main",
            "chaos",
            "--seed=" + SEED,
            "--minutes=0.02",
            "--shape=reduced",
            "--verbose",
            "--dir=" + directory.resolve("run")));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(log().toFile())
            .start();
    try {
      assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).as(findings()).isTrue();
      return process.exitValue();
    } finally {
      process.destroyForcibly();
    }
  }

  private Path log() {
    return directory.resolve("out.txt");
  }

  private String output() throws IOException {
    return Files.exists(log()) ? Files.readString(log()) : "";
  }

  /** What was found stands before all that happened: long outputs are cut off at their end. */
  private String findings() throws IOException {
    String all = output();
    int report = Math.max(0, all.lastIndexOf("\nchaos, seed "));
    return all.substring(report) + "\n" + all.substring(0, report);
  }
}
