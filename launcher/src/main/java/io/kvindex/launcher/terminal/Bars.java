// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.terminal;

import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Progress bars, on the error output; of a terminal only. */
public final class Bars {

  private static final int WIDTH = 80;
  private static final int UPDATE_MS = 250;

  private Bars() {}

  /**
   * A bar to be closed.
   *
   * @param task what is being done
   * @param unit what is counted, empty = nothing that has a name
   * @param max how many there are, -1 = not known
   */
  public static ProgressBar of(String task, String unit, long max) {
    ProgressBarBuilder bar =
        new ProgressBarBuilder()
            .setTaskName(task)
            .setUnit(unit.isEmpty() ? "" : " " + unit, 1)
            .setInitialMax(max)
            .setStyle(ProgressBarStyle.ASCII)
            .setUpdateIntervalMillis(UPDATE_MS);
    return Terminal.isThere()
        ? bar.build()
        : bar.setConsumer(new DelegatingProgressBarConsumer(line -> {}, WIDTH)).build();
  }
}
