// SPDX-License-Identifier: Apache-2.0
package io.kvindex.model.site;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says whose table serves, in a log that others may write to at the same moment. */
final class Succession {

  private static final Logger LOG = LoggerFactory.getLogger(Succession.class);

  private final Log log;

  /** The site's record. */
  interface Log {

    SiteRecord read() throws TimeoutException;

    void write(SiteRecord record) throws InterruptedException, ExecutionException, TimeoutException;
  }

  Succession(Log log) {
    this.log = log;
  }

  /** Durable when it returns; nothing is written where it is said already. */
  ServingChange to(String application)
      throws InterruptedException, ExecutionException, TimeoutException {
    SiteRecord site = log.read();
    Serving before = site.serving();
    if (before.application().equals(application)) {
      return new ServingChange(before, before);
    }
    Serving next = before.next(application);
    log.write(site.served(next));
    LOG.info(
        "the site is served by application {} from now on, change {}", application, next.number());
    return new ServingChange(before, now(next));
  }

  /** Another one that read before this was written has written the same number. */
  private Serving now(Serving next) {
    try {
      return log.read().serving();
    } catch (TimeoutException | KafkaException e) {
      LOG.warn("whether {} holds is not known: the log can not be read again", next, e);
      return next;
    }
  }
}
