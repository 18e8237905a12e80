// SPDX-License-Identifier: Apache-2.0
package io.kvindex.bridge.control;

import io.kvindex.model.PublisherId;
import io.kvindex.model.SourceType;
import io.kvindex.model.TableId;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How registrations end: the tables are told, again until Kafka has it, that nothing of them counts
 * any more. Control thread only.
 */
final class Endings {

  private static final Logger LOG = LoggerFactory.getLogger(Endings.class);
  private static final Duration RETRY = Duration.ofSeconds(1);

  /** Who is followed now. */
  interface Present {
    @Nullable Followed get(PublisherId publisher);
  }

  private final ControlRecords records;
  private final Retirements retirements;
  private final Steps steps;
  private final Present present;

  /**
   * @param steps what the control thread does next
   */
  Endings(ControlRecords records, Retirements retirements, Steps steps, Present present) {
    this.records = records;
    this.retirements = retirements;
    this.steps = steps;
    this.present = present;
  }

  /** Retires for good: the progress is taken back once the tables can know. */
  void retire(
      int partition, PublisherId publisher, TableId table, SourceType type, long generation) {
    LOG.info("publisher={} is retired by generation={}", publisher, generation);
    fence(publisher, table, type, generation, () -> forget(partition, publisher));
  }

  private void forget(int partition, PublisherId publisher) {
    if (present.get(publisher) == null) {
      records.write(partition, publisher, null, (metadata, problem) -> {});
    }
  }

  /**
   * Hides what older generations announced at once, before the new one has said anything. Whoever
   * is followed meanwhile, a late one changes nothing, and a missing one leaves dead blocks behind.
   *
   * @param done what to do once the tables can know
   */
  void fence(
      PublisherId publisher, TableId table, SourceType type, long generation, Steps.Step done) {
    retirements.retire(
        publisher,
        table,
        type,
        generation,
        durable -> {
          if (durable) {
            steps.add(done);
          } else {
            steps.addLater(() -> fence(publisher, table, type, generation, done), RETRY);
          }
        });
  }
}
