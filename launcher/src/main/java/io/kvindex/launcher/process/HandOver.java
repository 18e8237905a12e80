// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.process.TakeOver.Outcome;
import io.kvindex.launcher.rewind.ReplayGroup;
import io.kvindex.model.site.Serving;
import io.kvindex.model.site.ServingChange;
import io.kvindex.query.remote.ServedTable;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Hands a table that is said to serve over to the replicas: stays until they hold it, leaves, and
 * deletes what the former application has in Kafka. For one thread, but for {@link #follow}.
 */
final class HandOver {

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
  private static final long TELL_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long COMPLAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final ServedTable table;
  private final ServingChange change;
  private final ReplayGroup former;
  private final Departure departure;
  private final Terms terms;
  private final TakeOverReport report;
  private long complainNanos = System.nanoTime();
  private volatile Serving stated;

  /**
   * When it is done.
   *
   * @param copies of each partition that the replicas shall have, at least 1
   * @param patience longest wait for them
   */
  record Terms(int copies, Duration patience) {}

  private enum Wait {
    OVER,
    TOO_LONG,
    OVERTAKEN
  }

  /**
   * @param table the rebuild's
   * @param change as the log told it
   * @param former what the application that served before has in Kafka
   * @param departure of its replicas
   */
  HandOver(
      ServedTable table,
      ServingChange change,
      ReplayGroup former,
      Departure departure,
      Terms terms,
      TakeOverReport report) {
    this.table = table;
    this.change = change;
    this.former = former;
    this.departure = departure;
    this.terms = terms;
    this.report = report;
    stated = change.now();
  }

  /** Takes in a later statement of whose table serves. Any thread. */
  void follow(Serving serving) {
    stated = serving;
  }

  /**
   * Does it all; what Kafka does not answer meanwhile is asked again.
   *
   * @param check looks whether the rebuild goes on; what it throws ends this
   */
  Outcome run(Runnable check) throws InterruptedException {
    if (overtaken()) {
      return giveWay();
    }
    report.say(
        "%s serves from now on (change %d, before: %s); the replicas build it beside theirs",
        own(), change.now().number(), before());
    Wait wait = await(check);
    if (wait == Wait.OVERTAKEN) {
      return giveWay();
    }
    if (wait == Wait.TOO_LONG && least() < 1) {
      report.say(
          "after %d minutes not every partition of %s is on a replica: this process goes on, as it is"
              + " needed. Look at /cluster and at the log of each replica for what keeps them; stop this"
              + " process when each partition has an active replica or a standby that is ready",
          terms.patience().toMinutes(), own());
      return Outcome.NEEDED;
    }
    table.keeper().close();
    report.say("handed over to %s", table.otherReplicas());
    if (wait == Wait.OVER && delete()) {
      return Outcome.DONE;
    }
    report.leftOver(before());
    return Outcome.FORMER_LEFT;
  }

  private String own() {
    return table.application();
  }

  private String before() {
    return change.before().application();
  }

  private int least() {
    return table.leastCopiesElsewhere();
  }

  private boolean overtaken() {
    return !stated.application().equals(own());
  }

  private Outcome giveWay() {
    Serving now = stated;
    report.say(
        "%s serves by now (change %d), somebody else has said so; replicas that began to build %s let it go",
        now.application(), now.number(), own());
    report.leftOver(own());
    report.leftOver(before());
    return Outcome.OVERTAKEN;
  }

  /** Until the replicas have all their copies and nobody will come back to the former table. */
  private Wait await(Runnable check) throws InterruptedException {
    long start = System.nanoTime();
    long told = start;
    while (System.nanoTime() - start < terms.patience().toNanos()) {
      check.run();
      if (overtaken()) {
        return Wait.OVERTAKEN;
      }
      int replicas = table.otherReplicas().size();
      int least = least();
      boolean gone = isGone();
      if (gone && least >= Math.max(1, Math.min(terms.copies(), replicas))) {
        return Wait.OVER;
      }
      if (System.nanoTime() - told > TELL_NANOS) {
        told = System.nanoTime();
        report.say(
            "%d replicas build it, each partition is whole on %d of them or more; %d had the former table,"
                + " and %s",
            replicas, least, departure.replicas(), gone ? "need it no more" : "may need it still");
      }
      LockSupport.parkNanos(LOOK_NANOS);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    return Wait.TOO_LONG;
  }

  private boolean isGone() throws InterruptedException {
    try {
      int processes = former.processes();
      if (processes == 0) {
        return departure.isOver(table.servedBy().size(), System.nanoTime());
      }
      departure.present(processes);
    } catch (IllegalStateException e) {
      departure.unknown();
      if (System.nanoTime() - complainNanos >= 0) {
        complainNanos = System.nanoTime() + COMPLAIN_NANOS;
        report.say(
            "who has the former table is not known now, asked again: %s",
            String.valueOf(e.getMessage()));
      }
    }
    return false;
  }

  private boolean delete() throws InterruptedException {
    try {
      former.delete();
      report.say("deleted the former group and its topic %s", former.changelog());
      return true;
    } catch (IllegalStateException e) {
      report.say("the former application is not deleted: %s", String.valueOf(e.getMessage()));
      return false;
    }
  }
}
