// SPDX-License-Identifier: Apache-2.0
package io.kvindex.query.swap;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Something that lasts is told at once, and complained of and counted once in a while. */
final class Complaint {

  private static final Logger LOG = LoggerFactory.getLogger(TableSwap.class);

  private final Duration every;
  private final Runnable count;
  private long sinceNs;
  private boolean open;

  /**
   * @param every between two complaints
   * @param count counts them
   */
  Complaint(Duration every, Runnable count) {
    this.every = every;
    this.count = count;
  }

  /**
   * It is still so.
   *
   * @param text with a {@code {}} for each argument
   */
  void about(String text, Object... arguments) {
    long now = System.nanoTime();
    if (!open) {
      open = true;
      sinceNs = now;
      LOG.info(text, arguments);
    } else if (now - sinceNs >= every.toNanos()) {
      sinceNs = now;
      count.run();
      LOG.warn(text, arguments);
    }
  }

  /** It is not so any more. */
  void withdraw() {
    open = false;
  }
}
