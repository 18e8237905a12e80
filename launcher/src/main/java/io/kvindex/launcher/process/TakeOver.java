// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.rewind.ReplayGroup;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.site.Serving;
import io.kvindex.model.site.ServingChange;
import io.kvindex.model.site.ServingWatch;
import io.kvindex.query.remote.ServedTable;
import io.kvindex.streams.topology.IndexTopology;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.jspecify.annotations.Nullable;

/**
 * Makes a rebuild the table that serves: says so in the site's log, stays until the replicas hold
 * it, leaves, and deletes what the former application has in Kafka. For one thread.
 */
final class TakeOver {

  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
  private static final long TELL_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long COMPLAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Rebuild rebuild;
  private final ServedTable table;
  private final Map<String, Object> kafka;
  private final int copies;
  private final Duration patience;
  private final PrintWriter out;
  private final Departure departure;
  private long complainNanos = System.nanoTime();
  private volatile @Nullable Serving stated;

  /** How it ended. */
  enum Outcome {
    /** The replicas serve it, and nothing is left of the former one. */
    DONE,
    /** The replicas serve it; the former one is there still. */
    FORMER_LEFT,
    /** The rebuild is needed: not every partition is on a replica. */
    NEEDED,
    /** The replicas serve another one: somebody else has said so since. */
    OVERTAKEN
  }

  private enum Wait {
    OVER,
    TOO_LONG,
    OVERTAKEN
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
    departure = new Departure(rebuild.replicasBefore());
  }

  /**
   * Does it all.
   *
   * @throws IllegalStateException if the rebuild was given up, or Kafka does not answer; what is
   *     left is said before
   */
  Outcome run() throws InterruptedException {
    // From here on what it has in Kafka is the site's.
    rebuild.keep();
    ServingChange change;
    try {
      change = ClusterTopics.serve(kafka, table.application());
    } catch (RuntimeException | InterruptedException e) {
      say("whether %s serves is not known: /cluster of a replica says so. If not:", own());
      leftOver(own());
      throw e;
    }
    String former = change.before().application();
    if (former.equals(own())) {
      throw new IllegalStateException(
          own() + " serves already, somebody else has said so: nothing was changed");
    }
    stated = change.now();
    try (Closing parts = new Closing()) {
      Admin admin = parts.add(Admin.create(ClientKind.ADMIN.settings(kafka, Map.of())));
      parts.add(ServingWatch.start(kafka, change.now(), serving -> stated = serving));
      return overtaken() ? giveWay(former) : hand(change, new ReplayGroup(admin, former));
    } catch (RuntimeException | InterruptedException e) {
      leftOver(former);
      throw e;
    }
  }

  private Outcome hand(ServingChange change, ReplayGroup former) throws InterruptedException {
    say(
        "%s serves from now on (change %d, before: %s); the replicas build it beside theirs",
        own(), change.now().number(), change.before().application());
    Wait wait = await(former);
    if (wait == Wait.OVERTAKEN) {
      return giveWay(change.before().application());
    }
    if (wait == Wait.TOO_LONG && least() < 1) {
      say(
          "after %d minutes not every partition of %s is on a replica: this process goes on, as it is"
              + " needed. Look at /cluster and at the log of each replica for what keeps them; stop this"
              + " process when each partition has an active replica or a standby that is ready",
          patience.toMinutes(), own());
      return Outcome.NEEDED;
    }
    table.keeper().close();
    say("handed over to %s", table.otherReplicas());
    if (wait == Wait.OVER && delete(former)) {
      return Outcome.DONE;
    }
    leftOver(change.before().application());
    return Outcome.FORMER_LEFT;
  }

  private String own() {
    return table.application();
  }

  private int least() {
    return table.leastCopiesElsewhere();
  }

  private boolean overtaken() {
    Serving now = stated;
    return now != null && !now.application().equals(own());
  }

  private Outcome giveWay(String former) {
    Serving now = Objects.requireNonNull(stated);
    say(
        "%s serves by now (change %d), somebody else has said so; replicas that began to build %s let it go",
        now.application(), now.number(), own());
    leftOver(own());
    leftOver(former);
    return Outcome.OVERTAKEN;
  }

  /** Until the replicas have all their copies and nobody will come back to the former table. */
  private Wait await(ReplayGroup former) throws InterruptedException {
    long start = System.nanoTime();
    long told = start;
    while (System.nanoTime() - start < patience.toNanos()) {
      rebuild.check();
      if (overtaken()) {
        return Wait.OVERTAKEN;
      }
      int replicas = table.otherReplicas().size();
      int least = least();
      boolean gone = isGone(former);
      if (gone && least >= Math.max(1, Math.min(copies, replicas))) {
        return Wait.OVER;
      }
      if (System.nanoTime() - told > TELL_NANOS) {
        told = System.nanoTime();
        say(
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

  private boolean isGone(ReplayGroup former) throws InterruptedException {
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
        say(
            "who has the former table is not known now, asked again: %s",
            String.valueOf(e.getMessage()));
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

  private void leftOver(String application) {
    say(
        "left in Kafka: group %1$s and topic %2$s. When no replica is in that group any more, and /cluster"
            + " says that it does not serve: kafka-consumer-groups.sh --delete --group %1$s;"
            + " kafka-topics.sh --delete --topic %2$s",
        application, IndexTopology.changelogOf(application));
  }

  private void say(String text, Object... arguments) {
    out.printf("  " + text + "%n", arguments);
    out.flush();
  }
}
