// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says whose table serves, in a log that others may write to at the same moment. */
final class Succession {

  private static final Logger LOG = LoggerFactory.getLogger(Succession.class);

  private final SiteCopies log;

  Succession(SiteCopies log) {
    this.log = log;
  }

  /** Durable when it returns; nothing is written where it is said already. */
  ServingChange to(String application)
      throws InterruptedException, ExecutionException, TimeoutException {
    SiteRecord site = Objects.requireNonNull(log.read().newest(), "there since it was verified");
    Serving before = site.serving();
    if (before.application().equals(application)) {
      return new ServingChange(before, before);
    }
    Serving next = before.next(application);
    SiteRecord mine = site.served(next);
    log.write(mine);
    LOG.info(
        "the site is served by application {} from now on, change {}", application, next.number());
    return new ServingChange(before, now(mine));
  }

  /**
   * Another one that read before this was written has written the same number; the site may even be
   * further than that, and this has covered it.
   */
  private Serving now(SiteRecord mine) throws InterruptedException {
    try {
      return new ReadRepair(log).complete(log.read(), mine).serving();
    } catch (TimeoutException | ExecutionException | KafkaException e) {
      LOG.warn("whether {} holds is not known: the log can not be read again", mine.serving(), e);
      return mine.serving();
    }
  }
}
