// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.rewind.ReplayGroup;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.site.Serving;
import io.kvindex.query.remote.ServedTable;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;

/**
 * Makes a rebuild the table that serves: says so in the site's log, stays until the replicas hold
 * it, leaves, and deletes what the former application has in Kafka. For one thread.
 */
final class TakeOver {

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
  private static final long TELL_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final Rebuild rebuild;
  private final ServedTable table;
  private final Map<String, Object> kafka;
  private final int copies;
  private final Duration patience;
  private final PrintWriter out;

  /** How it ended. */
  enum Outcome {
    /** The replicas serve it, and nothing is left of the former one. */
    DONE,
    /** The replicas serve it; the former one is there still. */
    FORMER_LEFT,
    /** The rebuild is needed: not every partition is on a replica. */
    NEEDED
  }

  /**
   * @param rebuild ready, and one with a membership
   * @param kafka settings of Kafka clients
   * @param membership how many copies of each partition the site wants
   * @param patience longest wait for the replicas
   * @param out what happens is said there
   */
  TakeOver(
      Rebuild rebuild,
      Map<String, Object> kafka,
      Rebuild.Membership membership,
      Duration patience,
      PrintWriter out) {
    this.rebuild = rebuild;
    this.table = rebuild.table();
    this.kafka = Map.copyOf(kafka);
    copies = membership.placement().standbys() + 1;
    this.patience = patience;
    this.out = out;
  }

  /** Does it all. */
  Outcome run() throws InterruptedException {
    Serving former = rebuild.serving();
    // From here on what it has in Kafka is the site's.
    rebuild.keep();
    Serving next = ClusterTopics.serve(kafka, table.application());
    say(
        "%s serves from now on (change %d, before: %s); the replicas build it beside theirs",
        next.application(), next.number(), former.application());
    try (Admin admin = Admin.create(ClientKind.ADMIN.settings(kafka, Map.of()))) {
      ReplayGroup left = new ReplayGroup(admin, former.application());
      boolean empty = await(left);
      if (least() < 1) {
        say(
            "after %d minutes not every partition of %s is on a replica: this process goes on, as it is"
                + " needed. Look at /cluster and at the log of each replica for what keeps them; stop this"
                + " process when each partition has an active replica or a standby that is ready",
            patience.toMinutes(), next.application());
        return Outcome.NEEDED;
      }
      table.keeper().close();
      say("handed over to %s", table.otherReplicas());
      return empty && delete(left) ? Outcome.DONE : leftOver(left, former);
    }
  }

  private int least() {
    return table.leastCopiesElsewhere();
  }

  /** Until the replicas have all their copies and nobody has the former table. */
  private boolean await(ReplayGroup former) throws InterruptedException {
    long start = System.nanoTime();
    long told = start;
    while (System.nanoTime() - start < patience.toNanos()) {
      int replicas = table.otherReplicas().size();
      int least = least();
      int processes = former.processes();
      if (processes == 0 && least >= Math.max(1, Math.min(copies, replicas))) {
        return true;
      }
      if (System.nanoTime() - told > TELL_NANOS) {
        told = System.nanoTime();
        say(
            "%d replicas build it, each partition is whole on %d of them or more; %d still have the former"
                + " table",
            replicas, least, processes);
      }
      LockSupport.parkNanos(LOOK_NANOS);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    return false;
  }

  private boolean delete(ReplayGroup former) throws InterruptedException {
    try {
      former.delete();
      say("deleted the former group and its topic %s", former.changelog());
      return true;
    } catch (IllegalStateException e) {
      say("the former application is not deleted: %s", String.valueOf(e.getMessage()));
      return false;
    }
  }

  private Outcome leftOver(ReplayGroup former, Serving before) {
    say(
        "left in Kafka: group %1$s and topic %2$s. When no replica is in that group any more:"
            + " kafka-consumer-groups.sh --delete --group %1$s; kafka-topics.sh --delete --topic %2$s",
        before.application(), former.changelog());
    return Outcome.FORMER_LEFT;
  }

  private void say(String text, Object... arguments) {
    out.printf("  " + text + "%n", arguments);
    out.flush();
  }
}
