// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import me.tongfei.progressbar.ProgressBar;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BarsTest {

  @TempDir private Path directory;

  /** A process of its own, as the bar writes past {@code System.err}. */
  @Test
  void shouldWriteNothing_whenOutputIsAPipe() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Counting.class.getName())
            .redirectErrorStream(true)
            .start();
    String written = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(written).isZero();
    assertThat(written).contains("done").doesNotContain("sheep", "counting");
  }

  /** Counts to two. */
  static final class Counting {
    public static void main(String[] args) {
      try (ProgressBar bar = Bars.of("counting", "sheep", 2)) {
        bar.stepTo(2);
      }
      System.out.println("done");
    }
  }

  @Test
  void shouldKnowATerminal_whenAFileIsOne() throws IOException {
    assertThat(Terminal.isTerminal(link("tty", "/dev/pts/3"))).isTrue();
    assertThat(Terminal.isTerminal(link("pipe", "pipe:[4711]"))).isFalse();
    assertThat(Terminal.isTerminal(link("null", "/dev/null"))).isFalse();
    assertThat(Terminal.isTerminal(link("file", directory.resolve("log").toString()))).isFalse();
    assertThat(Terminal.isTerminal(directory.resolve("closed"))).isFalse();
    assertThat(Terminal.isThere()).as("tests write into a pipe or a file").isFalse();
  }

  private Path link(String name, String target) throws IOException {
    return Files.createSymbolicLink(directory.resolve(name), Path.of(target));
  }
}
