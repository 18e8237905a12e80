// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.follow;

import io.kvindex.model.Incarnation;
import io.kvindex.model.PublisherId;
import io.kvindex.model.log.OncePerMinute;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How one life of a publisher follows the other: the next one is claimed, again until Kafka takes
 * the claim, and announced, again until Kafka has it, so that the one before is fenced however
 * quiet the engine is. For its loop's thread only.
 */
final class Succession {

  private static final Logger LOG = LoggerFactory.getLogger(Succession.class);

  private final PublisherId publisher;
  private final CurrentLife life;
  private final BatchPublisher records;
  private final FollowStatus status;
  private final Later later;
  private final Duration retry;
  private final Runnable adopted;
  private final OncePerMinute warnings = new OncePerMinute();
  private final NewLifeBrake brake = new NewLifeBrake();

  /** The life whose opening Kafka has to take before anything else of it, null = none. */
  private @Nullable Incarnation awaited;

  private boolean announces;
  private boolean mayFollow;

  /** Lives below it count no more: another bridge has claimed it, or the last one was before it. */
  private long contested = -1;

  /**
   * @param retry pause before Kafka is asked again
   * @param opens whether the first life has to be announced, too
   * @param adopted told that the next life is there, and announced
   */
  Succession(
      PublisherId publisher,
      CurrentLife life,
      BatchPublisher records,
      FollowStatus status,
      Later later,
      Duration retry,
      boolean opens,
      Runnable adopted) {
    this.publisher = publisher;
    this.life = life;
    this.records = records;
    this.status = status;
    this.later = later;
    this.retry = retry;
    this.announces = opens;
    this.adopted = adopted;
  }

  /** Announces the first life if it follows another one; once. */
  void begin() {
    if (announces) {
      announces = false;
      announce();
    }
  }

  private void announce() {
    Incarnation announced = life.incarnation();
    awaited = life.retells() == null ? null : announced;
    records.begin(
        () -> later.run(() -> noteAnnounced(announced), Duration.ZERO),
        refusal -> later.run(() -> announceAgain(refusal), retry));
  }

  private void noteAnnounced(Incarnation announced) {
    if (announced.equals(awaited)) {
      awaited = null;
    }
  }

  private void announceAgain(Exception refusal) {
    status.problem("Kafka does not take the opening of its life: " + refusal);
    if (warnings.allows()) {
      LOG.warn("publisher={} life not opened yet: {}", publisher, refusal.toString());
    }
    announce();
  }

  /**
   * Whether batches of the life followed may be sent. Where it tells again what others did, Kafka
   * has to have its opening first: without it that life's answers would look complete.
   */
  boolean mayPublish() {
    return awaited == null;
  }

  /** Another bridge claimed that life; whether what is sent under this one counts no more. */
  boolean isOvertakenBy(long claimed) {
    contested = Math.max(contested, claimed);
    return life.incarnation().life() < contested;
  }

  /** Nothing the engine sent so far counts any more: claims the next life. */
  void claimNext(String evidence) {
    LOG.info("publisher={} has a new life: {}", publisher, evidence);
    status.count("new_lives", 1);
    claim();
  }

  private void claim() {
    life.claimNext((offset, problem) -> later.run(() -> claimed(offset, problem), Duration.ZERO));
  }

  private void claimed(long offset, @Nullable Exception problem) {
    if (problem != null) {
      status.problem("a new life could not be claimed: " + problem);
      if (warnings.allows()) {
        LOG.warn("publisher={} life not claimed yet: {}", publisher, problem.toString());
      }
      later.run(this::claim, retry);
      return;
    }
    // A claim is an offset. Where Kafka lost the end of its topic, the next one may be lower than
    // the life that tables have seen, and they would take nothing of it.
    contested = Math.max(contested, life.incarnation().life() + 1);
    life.adopt(offset);
    if (life.incarnation().life() < contested) {
      claim();
      return;
    }
    announce();
    adopted.run();
  }

  /** Has the life adopted last followed: at once, unless sources fight. */
  void start() {
    Duration pause = brake.pauseAfter(System.nanoTime());
    mayFollow = pause.isZero();
    if (mayFollow) {
      status.ambiguous(null);
    } else {
      status.ambiguous(
          "more than "
              + NewLifeBrake.FREE
              + " new lives in a minute: two engines seem to publish under this registration;"
              + " give each an endpoint, or a `topic`, of its own");
      later.run(() -> mayFollow = true, pause);
    }
  }

  /** Whether the life adopted last is to be followed from now on; once. */
  boolean takeStart() {
    boolean start = mayFollow;
    mayFollow = false;
    return start;
  }
}
