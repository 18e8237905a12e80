// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.bridge.produce.SendSession;
import io.kvindex.model.PublisherId;
import io.kvindex.model.log.OncePerMinute;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Goes back to what Kafka has where it refused a record: behind it nothing may follow, as it would
 * be taken for the next one. I/O thread only.
 */
final class FailedSends {

  private static final Logger LOG = LoggerFactory.getLogger(FailedSends.class);

  private final PublisherId publisher;
  private final CurrentLife life;
  private final Intake intake;
  private final FollowStatus status;
  private final OncePerMinute warnings = new OncePerMinute();

  FailedSends(PublisherId publisher, CurrentLife life, Intake intake, FollowStatus status) {
    this.publisher = publisher;
    this.life = life;
    this.intake = intake;
    this.status = status;
  }

  /** Whether a record of this life was refused and nobody has gone back yet. */
  boolean isPending() {
    return life.session().failure() != null;
  }

  /**
   * Goes back.
   *
   * @return false if it can not: some of the life's first records may be in the log all the same,
   *     and nothing is known that could tell whose
   */
  boolean goBack() {
    Exception cause = life.session().failure();
    SendSession.Acked acked = life.session().acked();
    if (warnings.allows()) {
      LOG.warn("publisher={} goes back to {}: {}", publisher, acked, cause);
    }
    status.problem("Kafka refused a record: " + cause);
    status.count("sends_failed", 1);
    if (acked == null && intake.last() != null) {
      return false;
    }
    life.goBack();
    intake.goBackTo(acked);
    return true;
  }
}
