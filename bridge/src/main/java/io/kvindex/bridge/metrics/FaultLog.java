// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.metrics;

import io.kvindex.model.PublisherId;
import io.kvindex.model.log.OncePerMinute;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs what is wrong with what publishers send: a line for each cause and minute, whoever it was,
 * as a fleet that was upgraded does the same everywhere. How often it happened is in the metrics,
 * and to whom in the publisher's status. Thread-safe.
 */
public final class FaultLog {

  private static final Logger LOG = LoggerFactory.getLogger(FaultLog.class);

  /** Constants of enums, so there are no more than those have. */
  private final Map<Labelled, OncePerMinute> causes = new ConcurrentHashMap<>();

  /** Something that this publisher sent was left out. */
  public void tell(PublisherId publisher, Labelled cause, String what) {
    if (causes.computeIfAbsent(cause, any -> new OncePerMinute()).allows()) {
      LOG.warn("publisher={} reason={}: {}", publisher, cause.label(), what);
    }
  }
}
