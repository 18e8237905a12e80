// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Both copies of the site's record. Others may write to them at any moment. */
abstract class SiteCopies {

  private static final Logger LOG = LoggerFactory.getLogger(SiteCopies.class);

  /** Each but the first needs somebody who writes at the same moment. */
  private static final int ATTEMPTS = 5;

  /** What they hold now. */
  abstract SiteContent read() throws TimeoutException;

  /** Appends to both; returns when that is durable. */
  abstract void write(SiteRecord record)
      throws InterruptedException, ExecutionException, TimeoutException;

  /**
   * Sees to it that the newest record is the last one in both topics: compaction keeps no other.
   * Who writes a record has read before, and others may have written since, so the topics are read
   * again behind each.
   *
   * @param content as it was read
   * @param first what is written where there is none
   * @return the record that holds
   */
  SiteRecord complete(SiteContent content, SiteRecord first)
      throws InterruptedException, ExecutionException, TimeoutException {
    SiteContent now = content;
    for (int i = 0; i < ATTEMPTS && !now.isComplete(); i++) {
      write(Objects.requireNonNullElse(now.newest(), first));
      now = read();
    }
    SiteRecord site = Objects.requireNonNullElse(now.newest(), first);
    if (!now.isComplete()) {
      LOG.warn("others write the site's record all the time: {} holds now, and may be lost", site);
    }
    return site;
  }
}
