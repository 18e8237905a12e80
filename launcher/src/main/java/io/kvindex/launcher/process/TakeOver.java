// SPDX-License-Identifier: Apache-2.0
package io.kvindex.launcher.process;

import io.kvindex.launcher.rewind.ReplayGroup;
import io.kvindex.model.kafka.ClientKind;
import io.kvindex.model.site.ServingChange;
import io.kvindex.model.site.ServingWatch;
import io.kvindex.query.remote.ServedTable;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;

/**
 * Makes a rebuild the table that serves: says so in the site's log, stays until the replicas hold
 * it, leaves, and deletes what the former application has in Kafka. For one thread.
 */
final class TakeOver {

  private final Rebuild rebuild;
  private final Map<String, Object> kafka;
  private final HandOver.Terms terms;
  private final TakeOverReport report;
  private final Departure departure;

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
    this.kafka = Map.copyOf(kafka);
    terms = new HandOver.Terms(membership.placement().standbys() + 1, patience);
    report = new TakeOverReport(out);
    departure = new Departure(rebuild.replicasBefore());
  }

  /**
   * Does it all.
   *
   * @throws IllegalStateException if the rebuild was given up, or Kafka does not answer; what is
   *     left is said before
   */
  Outcome run() throws InterruptedException {
    ServedTable table = rebuild.table();
    String own = table.application();
    // From here on what it has in Kafka is the site's.
    rebuild.keep();
    ServingChange change;
    try {
      change = ClusterTopics.serve(kafka, own);
    } catch (RuntimeException | InterruptedException e) {
      report.say("whether %s serves is not known: /cluster of a replica says so. If not:", own);
      report.leftOver(own);
      throw e;
    }
    String former = change.before().application();
    if (former.equals(own)) {
      throw new IllegalStateException(
          own + " serves already, somebody else has said so: nothing was changed");
    }
    try (Closing parts = new Closing()) {
      Admin admin = parts.add(Admin.create(ClientKind.ADMIN.settings(kafka, Map.of())));
      ReplayGroup group = new ReplayGroup(admin, former);
      HandOver handOver = new HandOver(table, change, group, departure, terms, report);
      parts.add(ServingWatch.start(kafka, change.now(), handOver::follow));
      return handOver.run(rebuild::check);
    } catch (RuntimeException | InterruptedException e) {
      report.leftOver(former);
      throw e;
    }
  }
}
