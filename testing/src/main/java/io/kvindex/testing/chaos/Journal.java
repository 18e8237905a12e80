// SPDX-License-Identifier: Apache-2.0
package io.kvindex.testing.chaos;

import io.kvindex.launcher.terminal.Bars;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;

/** What was done: for people as it happens, in a file for later, and counted. One thread. */
final class Journal implements AutoCloseable {

  private static final double NS_A_SECOND = 1e9;

  private final long startedNs = System.nanoTime();
  private final PrintWriter file;
  private final PrintWriter out;
  private final @Nullable ProgressBar bar;
  private final Map<ChaosStep.Kind, Integer> done = new EnumMap<>(ChaosStep.Kind.class);

  Journal(ChaosOptions options, PrintWriter out) {
    this.out = out;
    try {
      file = new PrintWriter(Files.newBufferedWriter(options.directory().resolve("chaos.log")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    bar = options.verbose() ? null : Bars.of("chaos", "s", Math.max(1, options.time().toSeconds()));
  }

  /** Seconds since the beginning. */
  double seconds() {
    return (System.nanoTime() - startedNs) / NS_A_SECOND;
  }

  void did(ChaosStep.Kind kind, String what) {
    done.merge(kind, 1, Integer::sum);
    say(what);
  }

  void say(String what) {
    String line = String.format(Locale.ROOT, "%7.2f s  %s", seconds(), what);
    file.println(line);
    file.flush();
    if (bar == null) {
      out.println(line);
      out.flush();
    } else {
      bar.setExtraMessage(what);
    }
  }

  /** How far it is, in seconds of the time given. */
  void at(double chaosSeconds) {
    if (bar != null) {
      bar.stepTo((long) Math.min(chaosSeconds, bar.getMax()));
    }
  }

  int times(ChaosStep.Kind kind) {
    return done.getOrDefault(kind, 0);
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
    file.close();
  }
}
