// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that the site's newest record is the last one in both topics: compaction keeps no
 * other. Who writes a record has read before, and others may have written since, so the topics are
 * read again behind each.
 */
final class ReadRepair {

  private static final Logger LOG = LoggerFactory.getLogger(ReadRepair.class);

  /** Each but the first needs somebody who writes at the same moment. */
  private static final int ATTEMPTS = 5;

  private final SiteCopies log;

  ReadRepair(SiteCopies log) {
    this.log = log;
  }

  /**
   * Writes the newest record where it is not the last one.
   *
   * @param content as it was read
   * @param first what is written where there is none
   * @return the record that holds
   */
  SiteRecord complete(SiteContent content, SiteRecord first)
      throws InterruptedException, ExecutionException, TimeoutException {
    SiteContent now = content;
    for (int i = 0; i < ATTEMPTS && !now.isComplete(); i++) {
      log.write(Objects.requireNonNullElse(now.newest(), first));
      now = log.read();
    }
    SiteRecord site = Objects.requireNonNullElse(now.newest(), first);
    if (!now.isComplete()) {
      LOG.warn("others write the site's record all the time: {} holds now, and may be lost", site);
    }
    return site;
  }
}
