// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.drill;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvindex.launcher.terminal.Bars;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;

/** How far the drill is, for people, and its results for programs. One thread. */
final class DrillJournal implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final double NS_A_SECOND = 1e9;

  private final long startedNs = System.nanoTime();
  private final PrintWriter out;
  private final @Nullable PrintWriter report;
  private final @Nullable ProgressBar bar;

  /**
   * @param steps there will be
   * @param report a file for results, null = none
   * @param verbose whether each step is a line in place of a progress bar
   */
  DrillJournal(PrintWriter out, int steps, @Nullable Path report, boolean verbose)
      throws IOException {
    this.out = out;
    this.report = report == null ? null : new PrintWriter(Files.newBufferedWriter(report));
    bar = verbose ? null : Bars.of("drill", "", steps);
  }

  /** What is done now. */
  void say(String what) {
    if (bar == null) {
      out.printf(Locale.ROOT, "%7.1f s  %s%n", (System.nanoTime() - startedNs) / NS_A_SECOND, what);
      out.flush();
    } else {
      bar.setExtraMessage(what);
    }
  }

  /** What has been done. */
  void step(String what) {
    say(what);
    if (bar != null) {
      bar.step();
    }
  }

  /** An empty object to be filled and {@link #write written}. */
  static ObjectNode object() {
    return JSON.createObjectNode();
  }

  /** A line of the report. */
  void write(ObjectNode line) {
    if (report != null) {
      report.println(line);
      report.flush();
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
    if (report != null) {
      report.close();
    }
  }
}
