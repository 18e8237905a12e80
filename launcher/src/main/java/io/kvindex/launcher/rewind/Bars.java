// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.rewind;

import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/** Progress bars over records, on the error output. */
public final class Bars {

  private Bars() {}

  /**
   * A bar to be closed.
   *
   * @param task what is being done
   */
  public static ProgressBar ofRecords(String task, long records) {
    return new ProgressBarBuilder()
        .setTaskName(task)
        .setUnit(" records", 1)
        .setInitialMax(records)
        .setStyle(ProgressBarStyle.ASCII)
        .setUpdateIntervalMillis(250)
        .build();
  }
}
